package sqs

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/bench/harness/sqsclient"
)

// sqsCrew is the hands that work at one queue at once.
type sqsCrew struct {
	queue *sqsclient.Queue
	hands []Hand
	batch int // messages a request

	// most bounds the messages of a slice, where the server receives fewer in a slice's longest time than it takes in
	// one; 0: it does not.
	most int64

	// What came of the slices.
	sent, taken []harness.Sample

	sending, taking synced // of all slices, also of those by which the bound was found
}

// synced is what the calls of one kind have done.
type synced struct {
	calls int64
	kept  *harness.Kept
}

// newSQSCrew connects n hands to a queue.
func newSQSCrew(q *sqsclient.Queue, n, batch int, hire func() (Hand, error)) (*sqsCrew, error) {
	c := &sqsCrew{queue: q, batch: batch}
	c.sending.kept, c.taking.kept = q.Post.Keeping(), q.Post.Keeping()
	for range n {
		h, err := hire()
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.hands = append(c.hands, h)
	}
	return c, nil
}

func (c *sqsCrew) Close() error {
	var errs []error
	for _, h := range c.hands {
		errs = append(errs, h.Close())
	}
	return errors.Join(errs...)
}

// send lets all hands send for a time, or about as many messages as there may be; 0: no bound.
func (c *sqsCrew) send(ctx context.Context, d time.Duration, most int64) (harness.Sample, error) {
	calls := make([][]time.Duration, len(c.hands))
	var begun atomic.Int64 // requests
	began := time.Now()
	err := harness.Crowd(ctx, len(c.hands), func(ctx context.Context, i int) error {
		for last := began; last.Sub(began) < d && ctx.Err() == nil; {
			if n := begun.Add(1); most > 0 && (n-1)*int64(c.batch) >= most {
				return nil
			}
			if err := c.hands[i].send(c.batch); err != nil {
				return err
			}
			now := time.Now()
			calls[i] = append(calls[i], now.Sub(last))
			last = now
		}
		return ctx.Err()
	})
	s := gathered(calls, time.Since(began))
	s.N *= int64(c.batch)
	c.queue.Total += s.N
	return s, err
}

// gathered is the sample of calls, in the order of the hands.
func gathered(calls [][]time.Duration, elapsed time.Duration) harness.Sample {
	s := harness.Sample{Elapsed: elapsed}
	for _, d := range calls {
		s.Calls = append(s.Calls, d...)
	}
	s.N = int64(len(s.Calls))
	return s
}

// take lets all hands receive and delete n messages together, or as many as they can until the time is over; 0: no end.
// A hand waits for no more than is left, so that none waits for what others have taken; but where there are fewer
// groups than hands, some have to wait, and whoever is let in goes on. The sample ends when the last message is
// deleted.
func (c *sqsCrew) take(ctx context.Context, n int64, d time.Duration) (harness.Sample, error) {
	left := newShare(n)
	left.loose = c.queue.Groups > 0 && c.queue.Groups < len(c.hands)
	calls := make([][]time.Duration, len(c.hands))
	taken := make([]int64, len(c.hands))
	began := time.Now()
	err := harness.Crowd(ctx, len(c.hands), func(ctx context.Context, i int) error {
		defer left.wake()
		for ctx.Err() == nil && (d == 0 || time.Since(began) < d) {
			want := left.reserve(c.batch)
			if want == 0 {
				return nil
			}
			start := time.Now()
			got, err := c.hands[i].take(want)
			left.settle(want, got)
			if err != nil {
				return err
			}
			if got > 0 {
				calls[i] = append(calls[i], time.Since(start))
				taken[i] += int64(got)
			}
		}
		return ctx.Err()
	})
	s := gathered(calls, left.ended(began))
	s.N = 0
	for _, k := range taken {
		s.N += k
	}
	c.queue.Total -= s.N
	return s, err
}

// round lets the crew send for a time, and then take as much.
func (c *sqsCrew) round(ctx context.Context, d, longest time.Duration) error {
	sent, taken, err := c.slice(ctx, d, longest, c.most)
	if err != nil {
		return err
	}
	if sent.N == 0 || taken.N == 0 {
		return fmt.Errorf("%s: %d messages were sent to %s in a slice, and %d received: the machine is too slow for "+
			"so short a slice", c.queue.Post.Name, sent.N, c.queue.Kind(), taken.N)
	}
	c.sent, c.taken = append(c.sent, sent), append(c.taken, taken)
	return nil
}

// slice sends for a time, at most so many, and takes as much.
func (c *sqsCrew) slice(ctx context.Context, d, longest time.Duration, most int64) (sent, taken harness.Sample,
	err error) {
	if err = c.sending.during(func() (int, error) {
		sent, err = c.send(ctx, d, most)
		return len(sent.Calls), err
	}); err != nil {
		return sent, taken, fmt.Errorf("%s: send to %s: %w", c.queue.Post.Name, c.queue.Kind(), err)
	}
	if err = c.taking.during(func() (int, error) {
		taken, err = c.take(ctx, sent.N, longest)
		return len(taken.Calls), err
	}); err != nil {
		return sent, taken, fmt.Errorf("%s: receive from %s: %w", c.queue.Post.Name, c.queue.Kind(), err)
	}
	return sent, taken, nil
}

// during counts the calls that do makes, and their syncs.
func (s *synced) during(do func() (calls int, err error)) error {
	return s.kept.During(func() error {
		n, err := do()
		s.calls += int64(n)
		return err
	})
}

// check fails when what the rows of the crew say is durable was not synced.
func (c *sqsCrew) check() error {
	for _, s := range []synced{c.sending, c.taking} {
		if err := s.kept.Check(c.queue.Post.Name, s.calls, len(c.hands)); err != nil {
			return err
		}
	}
	return nil
}

// bound finds out how many messages a slice may have, so that what is sent in one can be taken in half its longest
// time: it tries more and more. Without it, a server that becomes slower the more there are would be given more and
// more in each slice. Nothing of it is measured, but it warms the server; what is left of it waits.
func (c *sqsCrew) bound(ctx context.Context, d, longest time.Duration) error {
	least := int64(len(c.hands) * c.batch)
	for n := least; ; n *= 4 {
		sent, taken, err := c.slice(ctx, d, longest, n)
		if err != nil {
			return err
		}
		left, full := sent.N-taken.N, sent.N < n // full: time is what bounds a slice
		if left > 0 || taken.Elapsed > longest/2 {
			c.most = max(least, int64(float64(taken.N)*float64(longest/2)/float64(taken.Elapsed)))
		}
		if left > 0 {
			if _, err := c.take(ctx, left, bounding*longest); err != nil {
				return fmt.Errorf("%s: receive what is left in %s: %w", c.queue.Post.Name, c.queue.Kind(), err)
			}
		}
		if full || c.most > 0 {
			c.queue.Waits = c.queue.Total
			return nil
		}
	}
}

// bounding is how many slices' longest times there are for what is left when the bound was found.
const bounding = 10

// fill lets messages wait: n, or as many as there is time for. It is not measured.
func (c *sqsCrew) fill(ctx context.Context, n int64, longest time.Duration) error {
	left := newShare(n)
	began := time.Now()
	sent := make([]int64, len(c.hands))
	err := harness.Crowd(ctx, len(c.hands), func(ctx context.Context, i int) error {
		defer left.wake()
		for ctx.Err() == nil && time.Since(began) < longest {
			k := left.reserve(sqsclient.Most)
			if k == 0 {
				return nil
			}
			if err := c.hands[i].send(k); err != nil {
				return err
			}
			left.settle(k, k)
			sent[i] += int64(k)
		}
		return ctx.Err()
	})
	for _, k := range sent {
		c.queue.Total += k
	}
	if err != nil {
		return fmt.Errorf("%s: fill: %w", c.queue.Post.Name, err)
	}
	return nil
}

// A Hand is a client's connection to a queue. It is for one goroutine at a time. What it does is done when a call
// returns.
type Hand interface {
	// send sends n messages, at most ten, in one request.
	send(n int) error
	// take waits for messages, receives n at most, at most ten, in one request and deletes them in another.
	take(n int) (int, error)
	Close() error
}
