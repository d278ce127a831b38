package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// sqsCrew is the hands that work at one queue at once.
type sqsCrew struct {
	queue *sqsQueue
	hands []sqsHand
	batch int // messages a request

	// What came of the slices.
	sent, taken []sample
}

// newSQSCrew connects n hands to a queue.
func newSQSCrew(q *sqsQueue, n, batch int, hire func() (sqsHand, error)) (*sqsCrew, error) {
	c := &sqsCrew{queue: q, batch: batch}
	for range n {
		h, err := hire()
		if err != nil {
			return nil, errors.Join(err, c.close())
		}
		c.hands = append(c.hands, h)
	}
	return c, nil
}

func (c *sqsCrew) close() error {
	var errs []error
	for _, h := range c.hands {
		errs = append(errs, h.close())
	}
	return errors.Join(errs...)
}

// send lets all hands send for a time.
func (c *sqsCrew) send(ctx context.Context, d time.Duration) (sample, error) {
	calls := make([][]time.Duration, len(c.hands))
	began := time.Now()
	err := crowd(ctx, len(c.hands), func(ctx context.Context, i int) error {
		for last := began; last.Sub(began) < d && ctx.Err() == nil; {
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
	s.n *= int64(c.batch)
	c.queue.total += s.n
	return s, err
}

// gathered is the sample of calls, in the order of the hands.
func gathered(calls [][]time.Duration, elapsed time.Duration) sample {
	s := sample{elapsed: elapsed}
	for _, d := range calls {
		s.calls = append(s.calls, d...)
	}
	s.n = int64(len(s.calls))
	return s
}

// take lets all hands receive and delete n messages together, or as many as they can until the time is over; 0: no end. A hand waits for no more than is left, so
// that none waits for what others have taken.
func (c *sqsCrew) take(ctx context.Context, n int64, d time.Duration) (sample, error) {
	left := newShare(n)
	calls := make([][]time.Duration, len(c.hands))
	taken := make([]int64, len(c.hands))
	began := time.Now()
	err := crowd(ctx, len(c.hands), func(ctx context.Context, i int) error {
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
	s := gathered(calls, time.Since(began))
	s.n = 0
	for _, k := range taken {
		s.n += k
	}
	c.queue.total -= s.n
	return s, err
}

// share is what hands still have to take. What one reserved and did not get, another may.
type share struct {
	mu      sync.Mutex
	changed sync.Cond
	left    int64 // not reserved
	flying  int   // hands with a reservation
	over    bool
}

func newShare(n int64) *share {
	s := &share{left: n}
	s.changed.L = &s.mu
	return s
}

// reserve returns how many to take, most at most; 0 when all is taken, or when a hand has given up.
func (s *share) reserve(most int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.left == 0 && s.flying > 0 && !s.over {
		s.changed.Wait()
	}
	if s.over {
		return 0
	}
	n := int(min(s.left, int64(most)))
	if n > 0 {
		s.left -= int64(n)
		s.flying++
	}
	return n
}

// settle says how many of the reserved were taken.
func (s *share) settle(reserved, got int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left += int64(reserved - got)
	s.flying--
	s.changed.Broadcast()
}

// wake lets nobody wait any more: a hand is done, because all is taken, or the time is over, or something failed.
func (s *share) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.changed.Broadcast()
}

// round lets the crew send for a time, and then take as much.
func (c *sqsCrew) round(ctx context.Context, d, longest time.Duration) error {
	sent, err := c.send(ctx, d)
	if err != nil {
		return fmt.Errorf("%s: send: %w", c.queue.post.name, err)
	}
	taken, err := c.take(ctx, sent.n, longest)
	if err != nil {
		return fmt.Errorf("%s: receive: %w", c.queue.post.name, err)
	}
	if sent.n == 0 || taken.n == 0 {
		return errors.New("nothing was done in a slice: the machine is too slow for so short a slice")
	}
	c.sent, c.taken = append(c.sent, sent), append(c.taken, taken)
	return nil
}

// fill lets messages wait: n, or as many as there is time for. It is not measured.
func (c *sqsCrew) fill(ctx context.Context, n int64, longest time.Duration) error {
	left := newShare(n)
	began := time.Now()
	sent := make([]int64, len(c.hands))
	err := crowd(ctx, len(c.hands), func(ctx context.Context, i int) error {
		defer left.wake()
		for ctx.Err() == nil && time.Since(began) < longest {
			k := left.reserve(sqsMost)
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
		c.queue.total += k
	}
	if err != nil {
		return fmt.Errorf("%s: fill: %w", c.queue.post.name, err)
	}
	return nil
}
