package sqs

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/bench/harness/sqsclient"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// handedOff is what came of slices of hand-offs.
type handedOff struct {
	whole  *measure.Histogram // from the sending until a waiter has it
	put    *measure.Histogram // until the sender has its answer
	beyond *measure.Histogram // from then until a waiter has it, which may be before
}

// waitingCrew is clients that wait for messages of a queue, and one that sends them.
type waitingCrew struct {
	queue *sqsclient.Queue
	hands []*lightSQS
	lone  *lightSQS
	came  chan time.Time // when a waiter had a message
	again chan struct{}  // it has deleted the message and waits again
	over  atomic.Bool    // what comes now is only to wake who waits
	found handedOff
}

func (s *session) newWaitingCrew(ctx context.Context, q *sqsclient.Queue) (*waitingCrew, error) {
	c := &waitingCrew{queue: q, came: make(chan time.Time, 1), again: make(chan struct{}, 1)}
	for range s.waiters {
		h, err := newLightSQS(ctx, q, s.payload)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.hands = append(c.hands, h)
	}
	var err error
	if c.lone, err = newLightSQS(ctx, q, s.payload); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *waitingCrew) Close() error {
	var errs []error
	for _, h := range c.hands {
		errs = append(errs, h.Close())
	}
	if c.lone != nil {
		errs = append(errs, c.lone.Close())
	}
	return errors.Join(errs...)
}

// slice hands so many messages off, each when the one before has come, been answered and been deleted. In the end every
// waiter gets one more, so that none is left waiting while it is the other side's turn.
func (c *waitingCrew) slice(ctx context.Context, n int) error {
	c.over.Store(false)
	c.found = handedOff{whole: measure.NewHistogram(), put: measure.NewHistogram(), beyond: measure.NewHistogram()}
	return harness.Crowd(ctx, 1+len(c.hands), func(ctx context.Context, i int) error {
		if i == 0 {
			return c.send(ctx, n)
		}
		return c.wait(ctx, c.hands[i-1])
	})
}

func (c *waitingCrew) send(ctx context.Context, n int) error {
	for range n {
		start := time.Now()
		if err := c.lone.send(1); err != nil {
			return err
		}
		answered := time.Now()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case came := <-c.came:
			c.found.whole.Record(came.Sub(start))
			c.found.put.Record(answered.Sub(start))
			c.found.beyond.Record(max(came.Sub(answered), 0))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.again:
		}
	}
	c.over.Store(true)
	for range c.hands {
		if err := c.lone.send(1); err != nil {
			return err
		}
	}
	return nil
}

// wait receives and deletes until a message comes that is only to wake it.
func (c *waitingCrew) wait(ctx context.Context, h *lightSQS) error {
	for had := false; ; {
		if err := h.wait(1, patienceSQS); err != nil {
			return err
		}
		if had {
			c.again <- struct{}{} // there is room: the next message is sent after it was read
		}
		n, err := h.got()
		came := time.Now()
		if err != nil {
			return err
		}
		if had = n > 0 && !c.over.Load(); had {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case c.came <- came:
			}
		}
		if n == 0 {
			continue
		}
		if err := h.remove(); err != nil || !had {
			return err
		}
	}
}

// handingOff compares how long messages take to clients that wait.
func (s *session) handingOff(ctx context.Context) (err error) {
	var queues []*sqsclient.Queue
	var crews []*waitingCrew
	defer func() {
		for _, c := range crews {
			err = harness.JoinCleanup(err, c.Close())
		}
		err = harness.JoinCleanup(err, deleteAll(queues))
	}()
	var all []*handedOff
	for _, p := range s.posts() {
		q, err := p.NewQueue(0)
		if err != nil {
			return err
		}
		queues = append(queues, q)
		c, err := s.newWaitingCrew(ctx, q)
		if err != nil {
			return err
		}
		crews = append(crews, c)
		all = append(all, &handedOff{whole: measure.NewHistogram(), put: measure.NewHistogram(),
			beyond: measure.NewHistogram()})
	}
	for round := range s.rounds + 1 {
		for i := range crews {
			at := (round + i) % len(crews)
			if err := crews[at].slice(ctx, s.handoffs); err != nil {
				return fmt.Errorf("%s: hand off: %w", crews[at].queue.Post.Name, err)
			}
			if round > 0 { // the first is not counted
				all[at].add(crews[at].found)
			}
		}
		if round > 0 {
			s.Step()
		}
	}
	for i, c := range crews {
		if err := c.queue.Check(); err != nil {
			return err
		}
		s.handOffRow(c.queue.Post.Name, all[i])
	}
	return nil
}

func (h *handedOff) add(o handedOff) {
	h.whole.Merge(o.whole)
	h.put.Merge(o.put)
	h.beyond.Merge(o.beyond)
}

func (s *session) handOffRow(name string, h *handedOff) {
	put, beyond := h.put.Summary(), h.beyond.Summary()
	r := s.Report.Row(name, workHandOff).Set("queue", queueKind(0)).Set("waiters", s.waiters).Set("bytes",
		harness.BodyBytes).Times(h.whole)
	r.Set("put_p50_ms", harness.Milliseconds(put.P50)).Set("put_p99_ms", harness.Milliseconds(put.P99))
	r.Set("beyond_p50_ms", harness.Milliseconds(beyond.P50)).Set("beyond_p99_ms", harness.Milliseconds(beyond.P99))
	if name == harness.CaseOurs {
		harness.Judge(r, s.Quick, harness.AtMost("beyond_p50_ms", 0.25), harness.AtMost("beyond_p99_ms", 2))
	}
}
