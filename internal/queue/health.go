package queue

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	smallPut  = 1 << 10          // the size of a message that has to fit into a store that is ready
	lookAgain = time.Millisecond // how long Ready waits before it tries again for a lock that may hang
)

// Ready is nil when a small put into a queue with room of its own would be taken now. Errors: ErrQueueFull (*FullError)
// when a bound of the whole store is reached, ErrNoRoom, ErrRefused, ErrStalled, ErrUnavailable, ErrClosed, ctx's.
func (s *Store) Ready(ctx context.Context) error {
	for !s.mu.TryLock() { // a put that hands its group to the journal holds it, and may hang with the disk
		if err := s.journal.Health(); errors.Is(err, ErrStalled) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		time.Sleep(lookAgain)
	}
	err := s.usable()
	if err == nil {
		err = s.hasRoom()
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	switch err := s.journal.Health(); {
	case err == nil, errors.Is(err, ErrNoRoom), errors.Is(err, ErrRefused), errors.Is(err, ErrStalled):
		return err
	default:
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
}

// hasRoom checks the bounds of the store for a small message. The lock is held.
func (s *Store) hasRoom() error {
	s.advance()
	p := plan{s: s.state, now: s.state.now}
	return p.fitsStore(smallPut, smallPut)
}
