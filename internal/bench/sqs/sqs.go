// Package sqs measures the SQS door from a client's side, beside ElasticMQ and Amazon's client for Go. Run says what
// is measured; it is hikyaku bench sqs.
package sqs

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/bench/harness/sqsclient"
)

// The works of the SQS bench, and its parts that are made of them.
const (
	workSend       = "send"
	workReceive    = "receive"
	workSendTen    = "send-10"
	workReceiveTen = "receive-10"
	workHandOff    = "hand-off"

	partFIFO    = "fifo"
	partBacklog = "backlog"
	partStuck   = "stuck"
	partSDK     = "sdk"
)

// The cases of the SQS bench, besides ours.
const (
	caseElasticMQ = "elasticmq"
	caseSDK       = "sdk" // Amazon's client for Go, with our server
)

// Run measures the SQS door from a client's side:
//
//   - send, send-10: messages of 1,000 bytes sent one by one, or ten in a request, by clients that wait for each
//     answer.
//   - receive, receive-10: as many received and deleted: a message, or up to ten, is received in one request, in which
//     the client waits for it, and deleted in another. The time is that of both.
//   - hand-off: a message is sent while clients wait: the time from the sending until one of them has it; beyond is
//     what is left of that after the sender has its answer, which is when the message is durable.
//
// Parts of a run are, besides standard queues with nothing else in them: fifo, FIFO queues of some numbers of groups;
// backlog, queues in which messages wait already; stuck, a FIFO queue in which one group stands still with many
// messages behind it, beside one without them; sdk, standard queues and Amazon's client for Go.
//
// Our server is a process of its own over a new store with every default, durable. ElasticMQ, if its URL is given, is
// another, in memory. Both are driven by lightSQS, which costs so little that the servers are what is measured, and
// take turns in slices; in a slice clients send for a time, and then receive and delete as much. A server that cannot
// keep up is given fewer messages, as many as it receives in a second, and its rows say how many. Ratios are medians of
// those of neighbouring slices. Syncs are of all slices, also of those by which was found what the server keeps up
// with; a run ends with an error when there were fewer than the calls need.
func Run(ctx context.Context, o harness.Options) error {
	s := &session{Session: harness.New("sqs", o, view()), extent: whole}
	if o.Quick {
		s.extent = quick
	}
	// one takes what has come on all lines, without waking the other; it is the servers that want two
	processors := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(processors)
	s.Works = Works()
	s.Wants = func(work string) bool {
		// who wants messages received wants them sent, too
		received := map[string]string{workSend: workReceive, workSendTen: workReceiveTen}[work]
		return len(o.Only) == 0 || slices.Contains(o.Only, work) || slices.Contains(o.Only, received)
	}
	return s.Measure(ctx, s.experiments(), s.open, s.Close)
}

// extent says how much is measured.
type extent struct {
	clients  []int
	many     int // clients, where only one number of them is measured
	groups   []int
	few      int // groups, where only one number of them is measured
	backlogs []int
	stuck    int           // messages behind the one that is held
	rounds   int           // slices
	slice    time.Duration // that messages are sent for
	// at most, of a backlog: what is there by then is what is measured. ElasticMQ's FIFO queues become too slow for
	// more
	filling  time.Duration
	waiters  int
	handoffs int           // a slice
	warm     time.Duration // that a peer has before anything is measured
}

// The whole takes some minutes with a peer, the quick one some seconds.
var (
	whole = extent{
		clients: []int{1, 4, 16, 32}, many: 16, groups: []int{1, 100, 10_000}, few: 100,
		backlogs: []int{10_000, 300_000}, stuck: 300_000,
		rounds: 5, slice: 200 * time.Millisecond, filling: 20 * time.Second, waiters: 200, handoffs: 400,
		warm: 10 * time.Second,
	}
	quick = extent{
		clients: []int{1, 2}, many: 2, groups: []int{2, 10}, few: 4, backlogs: []int{100}, stuck: 100,
		rounds: 2, slice: 20 * time.Millisecond, filling: 10 * time.Second, waiters: 10, handoffs: 10,
		warm: 10 * time.Millisecond,
	}
)

// session is one run.
type session struct {
	harness.Session
	extent
	ours    *sqsclient.Post
	peer    *sqsclient.Post // nil without one
	payload string
}

// open starts our server, and finds the peer and warms it.
func (s *session) open(ctx context.Context) error {
	s.payload = string(harness.MakeBody(harness.BodyBytes))
	child, err := harness.StartChild(ctx, s.Options.SQS, "--dir", filepath.Join(s.Temp, "served"))
	if err != nil {
		return err
	}
	if s.ours, err = sqsclient.OpenPost(ctx, harness.CaseOurs, child.Addr, child); err != nil {
		return harness.JoinCleanup(err, child.Close())
	}
	s.Report.Note("hikyaku: a send is answered after an fdatasync that it shares with others")
	if s.ElasticMQ == "" {
		return nil
	}
	if s.peer, err = sqsclient.OpenPost(ctx, caseElasticMQ, s.ElasticMQ, nil); err != nil {
		return err
	}
	s.Report.Note("elasticmq: messages are in memory")
	return s.warmUp(ctx)
}

// warmUp lets the peer's virtual machine compile what will be measured.
func (s *session) warmUp(ctx context.Context) error {
	for _, groups := range []int{0, s.few} {
		for _, batch := range []int{1, sqsclient.Most} {
			if err := s.once(ctx, s.peer, groups, func(q *sqsclient.Queue) error {
				c, err := s.light(ctx, q, s.many, batch)
				if err != nil {
					return err
				}
				for began := time.Now(); time.Since(began) < s.warm/4; {
					if err := c.round(ctx, s.slice, s.longest()); err != nil {
						return errors.Join(err, c.Close())
					}
				}
				return c.Close()
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// once makes a queue for some work, and deletes it.
func (s *session) once(ctx context.Context, p *sqsclient.Post, groups int, work func(q *sqsclient.Queue) error) error {
	q, err := p.NewQueue(groups)
	if err != nil {
		return err
	}
	return harness.JoinCleanup(work(q), q.Delete())
}

// light is a crew of light hands.
func (s *session) light(ctx context.Context, q *sqsclient.Queue, n, batch int) (*sqsCrew, error) {
	return newSQSCrew(q, n, batch, func() (Hand, error) { return newLightSQS(ctx, q, s.payload) })
}

func (s *session) Close(context.Context) error {
	var errs []error
	for _, p := range []*sqsclient.Post{s.ours, s.peer} {
		if p != nil {
			errs = append(errs, p.Close())
		}
	}
	return errors.Join(errs...)
}

// experiments lists what can be measured, in the order of the report.
func (s *session) experiments() (es []harness.Experiment) {
	sides := 1
	if s.ElasticMQ != "" {
		sides = 2
	}
	add := func(part string, takes time.Duration, messages int, run func(ctx context.Context) error) {
		es = append(es, harness.Experiment{Work: part, Steps: s.rounds, Takes: takes,
			Disk: int64(messages)*harness.BytesLogged + harness.Slack, Run: run})
	}
	takes := time.Duration(3*sides*s.rounds) * s.slice
	batches := []struct {
		work string
		n    int
	}{{workSend, 1}, {workSendTen, sqsclient.Most}}
	for _, b := range batches {
		for _, n := range s.clients {
			add(b.work, takes, 0, func(ctx context.Context) error {
				return s.contest(ctx,
					sqsWork{clients: n, batch: b.n})
			})
		}
	}
	for _, groups := range s.groups {
		for _, b := range batches {
			add(partFIFO, takes, 0, func(ctx context.Context) error {
				return s.contest(ctx, sqsWork{clients: s.many, batch: b.n, groups: groups})
			})
		}
	}
	for _, depth := range s.backlogs {
		for _, groups := range []int{0, s.few} {
			fills := harness.Filling(depth) * time.Duration(3*sides)
			add(partBacklog, 2*takes+fills, 2*depth,
				func(ctx context.Context) error { return s.deeply(ctx, groups, depth) })
		}
	}
	add(partStuck, 2*takes+harness.Filling(s.stuck)*time.Duration(3*sides), 2*s.stuck, s.standingStill)
	add(workHandOff, time.Duration(s.rounds*sides*s.handoffs)*time.Millisecond, 0, s.handingOff)
	for _, n := range []int{1, s.many} {
		add(partSDK, takes, 0, func(ctx context.Context) error {
			// this client has work for as many as there are
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.NumCPU()))
			return s.withSDK(ctx, n)
		})
	}
	return es
}

// Works lists the names of the works and the parts.
func Works() []string {
	return []string{workSend, workReceive, workSendTen, workReceiveTen, partFIFO, partBacklog, partStuck, workHandOff,
		partSDK}
}
