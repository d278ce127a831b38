package queue

import (
	"context"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// tickBatch bounds how long the lock is held for things that have become due.
const tickBatch = 1000

// retryWork is how long the Store waits before it tries work of its own again that the journal did not take.
const retryWork = time.Second

// keepTime does what time makes due: leases, delays, expiry, dead letters.
func (s *Store) keepTime() {
	defer s.ending.Done()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var exhausted, overdue []doomed // what the journal did not take yet
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.alarm:
		case <-timer.C:
		}
		s.mu.Lock()
		for s.paused && !s.closed {
			s.landing.Wait()
		}
		s.catchUp()
		exhausted = append(exhausted, s.state.exhausted...)
		overdue = append(overdue, s.state.overdue...)
		s.state.exhausted, s.state.overdue = nil, nil
		s.mu.Unlock()
		exhausted, overdue = s.buryAll(exhausted), s.expireAll(overdue)
		timer.Reset(s.sleep(len(exhausted)+len(overdue) > 0))
	}
}

// catchUp does what is due by now, so that what is shown is true of this moment. The lock is held.
func (s *Store) catchUp() {
	s.state.advance(s.clock())
	s.state.tick(tickBatch)
	s.state.serve()
	s.settleUp()
}

// sleep says how long keepTime has nothing to do.
func (s *Store) sleep(unfinished bool) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := time.Hour
	if due := s.state.due(); due != 0 {
		wait = min(wait, timeOf(due).Sub(s.clock()))
	}
	if unfinished {
		wait = min(wait, retryWork)
	}
	wait = max(wait, 0)
	s.sleeping = s.clock().Add(wait).UnixMicro()
	return wait
}

// buryAll moves messages that are out of attempts to their dead-letter queues and returns those that could not be moved now.
func (s *Store) buryAll(ds []doomed) (again []doomed) {
	for _, d := range ds {
		if s.bury(s.ctx, d) != nil {
			again = append(again, d)
		}
	}
	return again
}

func (s *Store) bury(ctx context.Context, d doomed) error {
	l, err := s.letter(ctx, d.q, d.e, message.Death{Reason: "out of attempts"})
	if err != nil {
		return err
	}
	return s.end(ctx, []doomed{d}, endDead, func(pl *plan) error {
		if l.to.gone {
			return errAgain
		}
		_, err := pl.put(l.to, &l.message, true)
		return err
	})
}

// expireAll writes down that messages have expired and returns those that could not be now.
func (s *Store) expireAll(ds []doomed) (again []doomed) {
	for len(ds) > 0 {
		n := min(len(ds), tickBatch)
		if s.end(s.ctx, ds[:n], endExpired, func(*plan) error { return nil }) != nil {
			again = append(again, ds[:n]...)
		}
		ds = ds[n:]
	}
	return again
}

// end removes doomed messages, in one group with what puts plans.
func (s *Store) end(ctx context.Context, ds []doomed, how ending, puts func(*plan) error) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	f := newFlight()
	pl := &plan{s: s.state, now: s.state.advance(s.clock()), limits: &s.limits, flight: f, taken: map[string]*PutResult{}}
	for _, d := range ds {
		if there, _ := d.q.all.Get(d.e.seq); there == d.e { // else it was purged meanwhile
			f.add(&settled{queue: d.q.id, seq: d.e.seq, end: how})
		}
	}
	if len(f.group) == 0 {
		s.leave()
		return nil
	}
	err := puts(pl)
	if err == nil {
		f.undo, f.after = pl.giveBack, pl.giveBack
		err = s.submit(f)
	}
	if err != nil {
		pl.giveBack()
		s.leave()
		return err
	}
	s.mu.Unlock()
	return f.wait(ctx)
}
