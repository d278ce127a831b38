package sqs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/bench/harness/sqsclient"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// sqsWork says what a comparison is of.
type sqsWork struct {
	clients int
	batch   int // messages a request
	groups  int // of a FIFO queue; 0: a standard queue
}

// posts are the servers, ours first.
func (s *session) posts() []*sqsclient.Post {
	if s.peer == nil {
		return []*sqsclient.Post{s.ours}
	}
	return []*sqsclient.Post{s.ours, s.peer}
}

// contest compares the servers, each with a queue of its own.
func (s *session) contest(ctx context.Context, w sqsWork) (err error) {
	var queues []*sqsclient.Queue
	defer func() { err = harness.JoinCleanup(err, deleteAll(queues)) }()
	for _, p := range s.posts() {
		q, err := p.NewQueue(w.groups)
		if err != nil {
			return err
		}
		queues = append(queues, q)
	}
	return s.compare(ctx, queues, w)
}

func deleteAll(queues []*sqsclient.Queue) error {
	var errs []error
	for _, q := range queues {
		errs = append(errs, q.Delete())
	}
	return errors.Join(errs...)
}

// deeply compares them with messages waiting, one by one and in batches.
func (s *session) deeply(ctx context.Context, groups, depth int) (err error) {
	var queues []*sqsclient.Queue
	defer func() { err = harness.JoinCleanup(err, deleteAll(queues)) }()
	for _, p := range s.posts() {
		q, err := p.NewQueue(groups)
		if err != nil {
			return err
		}
		queues = append(queues, q)
		if err := s.fill(ctx, q, depth); err != nil {
			return err
		}
	}
	for _, batch := range []int{1, sqsclient.Most} {
		if err := s.compare(ctx, queues, sqsWork{clients: s.many, batch: batch, groups: groups}); err != nil {
			return err
		}
	}
	return nil
}

// fill lets messages wait in a queue.
func (s *session) fill(ctx context.Context, q *sqsclient.Queue, n int) error {
	c, err := s.light(ctx, q, s.many, sqsclient.Most)
	if err != nil {
		return err
	}
	err = harness.JoinCleanup(c.fill(ctx, int64(n), s.filling), c.Close())
	q.Waits = q.Total
	return err
}

// compare lets crews at queues take turns, ours first in every other round, and reports what came of it.
func (s *session) compare(ctx context.Context, queues []*sqsclient.Queue, w sqsWork) (err error) {
	var crews []*sqsCrew
	defer func() {
		for _, c := range crews {
			err = harness.JoinCleanup(err, c.Close())
		}
	}()
	for _, q := range queues {
		c, err := s.light(ctx, q, w.clients, w.batch)
		if err != nil {
			return err
		}
		crews = append(crews, c)
	}
	if err := s.turns(ctx, crews); err != nil {
		return err
	}
	for i, c := range crews {
		sent, taken := s.sqsRows(c.queue.Post.Name, w, c)
		if i == 0 && len(crews) > 1 {
			s.against(sent, c.sent, crews[1].sent, w)
			s.against(taken, c.taken, crews[1].taken, w)
		}
	}
	return nil
}

// against sets the ratio of ours to the peer's and says what is asked for.
func (s *session) against(r *measure.Row, ours, peer []harness.Sample, w sqsWork) {
	harness.SetRatio(r, "ratio_elasticmq", ratiosOf(ours, peer))
	if w.groups == 0 && w.clients >= s.many { // fewer wait for the disk, one after the other
		harness.Judge(r, s.Quick, harness.AtLeast("ratio_elasticmq", 4))
	}
}

// ratiosOf are those of the rates of neighbouring slices, rising.
func ratiosOf(ours, peer []harness.Sample) (rising []float64) {
	for i := range min(len(ours), len(peer)) {
		rising = append(rising, harness.ByRate(ours[i], peer[i]))
	}
	return harness.Sorted(rising)
}

// turns lets crews do a slice each, over and over, after the bound of each was found.
func (s *session) turns(ctx context.Context, crews []*sqsCrew) error {
	for _, c := range crews {
		if err := c.bound(ctx, s.slice, s.longest()); err != nil {
			return err
		}
	}
	for round := range s.rounds {
		for i := range crews {
			if err := crews[(round+i)%len(crews)].round(ctx, s.slice, s.longest()); err != nil {
				return err
			}
		}
		s.Step()
	}
	for _, c := range crews {
		if err := errors.Join(c.queue.Check(), c.check()); err != nil {
			return err
		}
	}
	return nil
}

// longest is how long a slice's receiving may take: a server that takes longer is not waited for, and its rate is known
// by then.
func (s *session) longest() time.Duration { return max(5*s.slice, time.Second) }

// sqsRows adds the rows of what a crew sent and took.
func (s *session) sqsRows(name string, w sqsWork, c *sqsCrew) (sent, taken *measure.Row) {
	works := [2]string{workSend, workReceive}
	if w.batch > 1 {
		works = [2]string{workSendTen, workReceiveTen}
	}
	for i, got := range [][]harness.Sample{c.sent, c.taken} {
		t := harness.Total{Calls: measure.NewHistogram()}
		for _, one := range got {
			t.Add(one)
		}
		r := s.Report.Row(name, works[i]).Set("queue", queueKind(w.groups)).Set("clients", w.clients)
		if w.groups > 0 {
			r.Set("groups", w.groups)
		}
		if c.most > 0 {
			r.Set("slice_messages", c.most)
		}
		[]synced{c.sending, c.taking}[i].kept.Tell(r)
		r.Set("backlog", c.queue.Waits).Set("bytes", harness.BodyBytes).Times(t.Calls).Rate(t.N, t.Elapsed)
		if i == 0 {
			sent = r
		} else {
			taken = r
		}
	}
	return sent, taken
}

// queueKind names the two kinds of queues.
func queueKind(groups int) string {
	if groups > 0 {
		return "FIFO"
	}
	return "standard"
}

// standingStill compares a FIFO queue in which one group stands still, with many messages behind the one that is held,
// to one without them.
func (s *session) standingStill(ctx context.Context) error {
	for _, p := range s.posts() {
		if err := s.stuckAt(ctx, p); err != nil {
			return fmt.Errorf("a stuck group: %w", err)
		}
	}
	return nil
}

func (s *session) stuckAt(ctx context.Context, p *sqsclient.Post) (err error) {
	var queues []*sqsclient.Queue
	defer func() { err = harness.JoinCleanup(err, deleteAll(queues)) }()
	for _, depth := range []int{s.stuck, 0} {
		q, err := p.NewQueue(s.few)
		if err != nil {
			return err
		}
		queues = append(queues, q)
		if depth == 0 {
			continue
		}
		q.Groups, q.Group = 1, "stuck"
		if err := s.fill(ctx, q, depth); err != nil {
			return err
		}
		q.Groups, q.Group = s.few, "g"
		if err := s.hold(ctx, q); err != nil {
			return err
		}
	}
	for _, batch := range []int{1, sqsclient.Most} {
		var crews []*sqsCrew
		for _, q := range queues {
			c, err := s.light(ctx, q, s.many, batch)
			if err != nil {
				return errors.Join(err, closeCrews(crews))
			}
			crews = append(crews, c)
		}
		if err := harness.JoinCleanup(s.turns(ctx, crews), closeCrews(crews)); err != nil {
			return err
		}
		for i, c := range crews {
			sent, taken := s.sqsRows(p.Name, sqsWork{clients: s.many, batch: batch, groups: s.few}, c)
			if i > 0 {
				continue
			}
			for j, r := range []*measure.Row{sent, taken} {
				r.Set("stuck", "yes")
				harness.SetRatio(r, "ratio_empty",
					ratiosOf([][]harness.Sample{c.sent, c.taken}[j],
						[][]harness.Sample{crews[1].sent, crews[1].taken}[j]))
				if p == s.ours {
					harness.Judge(r, s.Quick, harness.AtLeast("ratio_empty", 0.8))
				}
			}
		}
	}
	return nil
}

func closeCrews(crews []*sqsCrew) error {
	var errs []error
	for _, c := range crews {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// hold receives a message and keeps it.
func (s *session) hold(ctx context.Context, q *sqsclient.Queue) error {
	h, err := newLightSQS(ctx, q, s.payload)
	if err != nil {
		return err
	}
	if err = h.wait(1, patienceSQS); err == nil {
		var n int
		if n, err = h.got(); err == nil && n != 1 {
			err = fmt.Errorf("%s: %d messages came, there should be one", q.Post.Name, n)
		}
	}
	return harness.JoinCleanup(err, h.Close())
}
