package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// claiming is one Claim under way.
type claiming struct {
	*asker // when it waits, its waiter's

	s       *Store
	r       *ClaimRequest
	written int // of picks: they were written down
	err     error
	place   uint64        // in the line, with errAgain
	ready   chan struct{} // closed when a waiter was served; nil: it does not wait
}

// Claim hands out up to Max messages: of the earliest entry of From that has any, the oldest first. When there is none
// it waits, up to Wait, and is handed the first that comes by whoever puts it. It returns none, and no error, when none
// came in time.
//
// Errors: ErrNotFound, ErrCondition (with a *condition.Error), ErrTooManyWaiters, ErrUnavailable, ErrClosed, ctx's:
// then nothing is claimed, but for what could not be given back because the disk failed: that comes back when its lease
// ends.
func (s *Store) Claim(ctx context.Context, r ClaimRequest) ([]Claim, error) {
	if r.Max <= 0 {
		r.Max = 1
	}
	if r.Lease < 0 || r.Lease > MaxLease {
		return nil, fmt.Errorf("lease is %v: it has to be between 0 and %v", r.Lease, MaxLease)
	}
	until := time.Now().Add(r.Wait)
	place := uint64(0)
	for {
		planAll(r.From)
		c, err := s.claim(ctx, &r, time.Until(until), place)
		if errors.Is(err, errAgain) { // the columns of a queue were altered
			place = c.place
			continue
		}
		if err != nil || len(c.picks) == 0 {
			s.keepShown()
			return nil, err
		}
		if err := s.keepClaims(ctx, c.picks); err != nil {
			return nil, err
		}
		if r.Hold != nil {
			if err := s.hold(ctx, &r, c.picks); err != nil {
				return nil, err
			}
		}
		claims, err := s.fill(ctx, c.picks)
		s.tellClaims(ctx, &r, claims)
		if err != nil || len(claims) > 0 {
			return claims, err
		}
		// Every one of them was damaged and set aside: look again.
	}
}

// claim looks for messages and waits for them. place is that in the line of those who wait, of one who has waited
// before; else 0.
func (s *Store) claim(ctx context.Context, r *ClaimRequest, wait time.Duration, place uint64) (*claiming, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o := r.owner()
	if r.Owner != nil && (o == nil || o.s != s) {
		return nil, fmt.Errorf("claim: %w: its owner is of another store", ErrStale)
	}
	froms, err := s.wanted(ctx, r) // returns with the lock
	if err != nil {
		return nil, err
	}
	if o != nil && o.closed {
		s.mu.Unlock()
		return nil, fmt.Errorf("claim: %w: its owner is closed", ErrStale)
	}
	s.advance()
	s.tick()
	a := &asker{from: froms, max: r.Max, maxBytes: r.Bytes, byKey: r.ByKey, apart: r.Apart, lease: r.Lease}
	if o != nil {
		a.owner, a.claimant = o.owner, o.claimant
	} else {
		s.claimant++
		a.claimant = s.claimant
	}
	if len(froms) == 1 && froms[0].where == nil {
		a.picks = make([]picked, 0, r.expect(froms[0].q))
	}
	c := &claiming{asker: a, s: s, r: r}
	if s.looked == nil {
		s.state.choose(a)
	} else {
		began := s.clock()
		s.state.choose(a)
		s.looked(s.clock().Sub(began))
	}
	c.hand()
	s.state.serve() // what tick woke and this claim did not take
	if a.again {
		c.place = place
		s.settleUp()
		s.mu.Unlock()
		return c, errAgain
	}
	if len(c.picks) > 0 || c.err != nil || wait <= 0 || len(froms) == 0 {
		s.settleUp()
		s.mu.Unlock()
		return c, c.err
	}
	if err := s.mayWait(o); err != nil {
		s.settleUp()
		s.mu.Unlock()
		return nil, err
	}
	c.ready = make(chan struct{})
	w := &waiter{number: place, asker: *a, who: c}
	c.asker = &w.asker
	s.state.wait(w)
	if o != nil {
		o.waiter = w
	}
	s.waiting++
	s.settleUp()
	s.mu.Unlock()
	return c, s.await(ctx, c, w, wait)
}

// handOver writes down what waiters were handed, and tells them. What cannot be written goes to others. The lock is
// held.
func (s *Store) handOver() {
	for len(s.state.served) > 0 {
		failed := false
		s.state.eachServed(func(w *waiter) {
			c := w.who.(*claiming)
			before := len(c.picks)
			if c.hand(); c.err != nil && !w.gone {
				s.state.unwait(w)
			}
			failed = failed || len(c.picks) < before
			if w.gone {
				close(c.ready)
			}
		})
		if failed {
			s.state.serve()
		}
	}
}

func (s *Store) mayWait(o *ownership) error {
	if s.waiting >= s.limits.Waiters {
		return fmt.Errorf("%w: the limit is %d", ErrTooManyWaiters, s.limits.Waiters)
	}
	if o != nil && o.waiter != nil {
		return fmt.Errorf("%w: another claim of its owner, %s, waits", ErrTooManyWaiters, o.name)
	}
	return nil
}

// wanted resolves a claim's queues, making them where that is wanted, and returns with the lock held unless it fails.
func (s *Store) wanted(ctx context.Context, r *ClaimRequest) ([]wanted, error) {
	from := r.From
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.mu.Lock()
		for s.paused > 0 && !s.closed {
			s.landing.Wait()
		}
		if err := s.usable(); err != nil {
			s.mu.Unlock()
			return nil, err
		}
		ws := make([]wanted, len(from))
		missing := Name{}
		for i, f := range from {
			n := s.Resolve(f.Queue)
			q := s.state.queueNames[n]
			if q == nil || q.gone {
				missing = n
				break
			}
			if err := q.fits(f.Where); err != nil {
				s.mu.Unlock()
				return nil, err
			}
			ws[i] = wanted{q: q, where: f.Where}
		}
		if missing == (Name{}) {
			if err := gather(ws); err != nil {
				s.mu.Unlock()
				return nil, err
			}
		}
		if missing == (Name{}) {
			done, ask := s.state.buildFor(ws, r.Max)
			if o := r.owner(); done && (o == nil || s.state.askSuccessors(o.owner, ws)) {
				return ws, nil
			}
			s.mu.Unlock() // a large queue is looked through in pieces, with everybody else in between
			if err := s.goOn(ctx, ask); err != nil {
				return nil, err
			}
			continue
		}
		isTopic := s.state.topicNames[missing] != nil
		s.mu.Unlock()
		switch {
		case isTopic:
			return nil, fmt.Errorf("%w: %s is a topic: claim from a queue that subscribes to it", ErrNotFound,
				missing.Short())
		case !s.demand:
			return nil, fmt.Errorf("%w: %s", ErrNotFound, missing.Short())
		}
		if err := missing.Check(); err != nil {
			return nil, err
		}
		if _, err := s.CreateQueue(ctx, missing, Definition{}); err != nil && !errors.Is(err, ErrExists) {
			return nil, err
		}
	}
}

// expect is about how many messages there are to be had of a queue.
func (r *ClaimRequest) expect(q *queueState) int {
	n := min(r.Max, q.ready.Len())
	if n > 0 && r.Bytes > 0 {
		n = min(n, 1+r.Bytes/int(1+q.bytes/int64(q.all.Len())))
	}
	return n
}

// hand writes the claims down, in several groups if they are many. Those that cannot be written are taken back. The
// lock is held.
func (c *claiming) hand() {
	s := c.s
	for c.written < len(c.picks) {
		some := c.picks[c.written:min(len(c.picks), c.written+s.groups.passing)]
		for i := range some {
			s.handed = some[i].event()
			s.packing.add(s.state.now, &s.handed)
		}
		if err := s.writePacked(); err != nil {
			err = s.journalError(err)
			s.state.takeBack(c.picks[c.written:])
			if c.picks = c.picks[:c.written]; c.written == 0 {
				c.err = err
			}
			return
		}
		c.written += len(some)
	}
}

// await waits for a waiter to be served, and gives up when ctx or the time ends.
func (s *Store) await(ctx context.Context, c *claiming, w *waiter, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	var cause error
	select {
	case <-c.ready:
	case <-timer.C:
	case <-ctx.Done():
		cause = ctx.Err()
	case <-s.ctx.Done():
		cause = ErrClosed
	case <-s.over:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting--
	if cause == nil && c.err == nil {
		cause = s.failure()
	}
	if o := c.r.owner(); o != nil {
		o.waiter = nil
	}
	if !w.gone {
		s.state.unwait(w)
		if w.taken == 0 {
			return cause
		}
	}
	if cause != nil && len(c.picks) > 0 { // served while giving up: nobody will see these
		err := s.giveBack(c.picks)
		c.picks = nil
		if err != nil {
			return errors.Join(cause, err)
		}
		return cause
	}
	if w.again && cause == nil {
		c.place = w.number
		c.r.From = w.asker.named(c.r.From)
		return errAgain
	}
	if c.err == nil && len(c.picks) == 0 && cause == nil {
		if o := c.owner; o != nil && o.closed {
			return fmt.Errorf("claim: %w: its owner was closed", ErrStale)
		}
		return fmt.Errorf("%w: the queue was deleted", ErrNotFound)
	}
	return errors.Join(cause, c.err)
}

// keepClaims waits until the claims survive the death of the process, so that attempts are exact after it, or are
// durable, where a queue promises that a message is with one reader at a time whatever happens. When ctx ends
// meanwhile, or the disk takes nothing now, they are given back; when the journal fails they end with their leases.
func (s *Store) keepClaims(ctx context.Context, picks []picked) error {
	err := s.keep(ctx, slices.ContainsFunc(picks, func(p picked) bool { return p.exactlyOnce }))
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		_, err = s.Settle(context.WithoutCancel(ctx), backOf(picks))
		return errors.Join(ctx.Err(), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.journalError(err)
	if s.failed == nil {
		err = errors.Join(err, s.giveBack(picks))
	}
	return err
}

// giveBack ends claims of which nobody was told, as if they had not been made. The lock is held.
func (s *Store) giveBack(picks []picked) error {
	return s.write(s.state.toReturn(picks))
}

// roomFor is about how many bytes a message takes when it was read, of its size and head: attributes take more than
// they are long.
func roomFor(size int64, head []byte) int64 {
	const bare, each, least = 32, 128, 8 // a head without any; what one takes, and its bytes in the head
	return size + int64(min(max(0, len(head)-bare)/least, message.MaxAttributes)*each)
}

// hold asks for room for the bodies. Where there is none, the claims are given back.
func (s *Store) hold(ctx context.Context, r *ClaimRequest, picks []picked) error {
	sum, largest := int64(0), int64(0)
	for i := range picks {
		size := roomFor(picks[i].size, picks[i].head)
		sum, largest = sum+size, max(largest, size)
	}
	err := r.Hold(ctx, sum, largest)
	if err == nil {
		return nil
	}
	_, err2 := s.Settle(context.WithoutCancel(ctx), backOf(picks))
	return errors.Join(err, err2)
}

// backOf gives picks back as if they had not been claimed.
func backOf(picks []picked) []Settlement {
	back := make([]Settlement, len(picks))
	for i := range picks { // the last ones first: none goes as one behind another of its key
		back[len(picks)-1-i] = Settlement{Token: picks[i].token, Kind: Back, Uncounted: true}
	}
	return back
}
