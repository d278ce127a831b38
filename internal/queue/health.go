package queue

import (
	"errors"
	"fmt"
)

// smallPut is the size of a message that has to fit into a store that is ready.
const smallPut = 1 << 10

// Ready is nil when a small put into a queue with room of its own would be taken now. Errors: ErrQueueFull (*FullError)
// when a bound of the whole store is reached, ErrNoRoom, ErrUnavailable, ErrClosed.
func (s *Store) Ready() error {
	s.mu.Lock()
	err := s.usable()
	if err == nil {
		err = s.hasRoom()
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	switch err := s.journal.Health(); {
	case err == nil, errors.Is(err, ErrNoRoom):
		return err
	default:
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
}

// hasRoom checks the bounds of the store for a small message. The lock is held.
func (s *Store) hasRoom() error {
	s.state.advance(s.clock())
	p := plan{s: s.state, limits: &s.limits, now: s.state.now}
	return p.fitsStore(smallPut, smallPut)
}
