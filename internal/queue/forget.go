package queue

import (
	"context"
	"errors"
	"runtime"
)

// forgetFirst comes before a longer history is journaled: it forgets all of a queue's past that time has made
// forgettable by the rule in force, in pieces with everybody else in between, so that the change need not look for it.
// On success no group is under way, none can be submitted but by the caller, who has to call goOnPutting, and nothing
// has become forgettable since. The lock is held before and after.
func (s *Store) forgetFirst(ctx context.Context, q *queueState) error {
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.landing.Broadcast()
	})
	defer stop()
	for {
		for q.seeking > 0 && s.usable() == nil && ctx.Err() == nil { // a seek keeps the past from being forgotten
			s.landing.Wait()
		}
		if q.late {
			s.state.sweepFrom(q)
		}
		s.catchUpWholly()
		s.paused++
		for s.flights > 0 && s.usable() == nil && ctx.Err() == nil {
			s.landing.Wait()
		}
		s.catchUp()
		if err := errors.Join(s.usable(), ctx.Err()); err != nil {
			s.goOnPutting()
			return err
		}
		if q.seeking == 0 && !q.late && !s.state.behind() {
			return nil
		}
		s.goOnPutting()
	}
}

// catchUpWholly does all that is due, in pieces with everybody else in between. The lock is held before and after.
func (s *Store) catchUpWholly() {
	for s.catchUp(); s.state.behind(); s.catchUp() {
		s.mu.Unlock()
		runtime.Gosched()
		s.mu.Lock()
	}
}

// goOnPutting ends the caller's pause; others may have one of their own. The lock is held.
func (s *Store) goOnPutting() {
	s.paused--
	s.landing.Broadcast()
}
