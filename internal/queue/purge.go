package queue

import (
	"context"
	"errors"
	"fmt"
)

// Purge removes every message that a queue has when it is called, also those that are claimed: their tokens go stale.
// It returns how many there were. Messages go in pieces, the oldest first, each as one step that is journaled: others
// work meanwhile, and after an error or a crash some have gone.
func (s *Store) Purge(ctx context.Context, n Name) (int, error) {
	s.mu.Lock()
	q, err := s.queueOf(n)
	s.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return s.purge(ctx, q, n)
}

// purge is Purge of a queue that was found by the name n. A queue that is deleted meanwhile has nothing left.
func (s *Store) purge(ctx context.Context, q *queueState, n Name) (removed int, err error) {
	for from, end := uint64(0), uint64(0); ; {
		if err := s.enter(ctx); err != nil {
			return removed, err
		}
		if q.gone {
			s.leave()
			if removed == 0 {
				return 0, fmt.Errorf("%w: %s", ErrNotFound, n.Short())
			}
			return removed, nil
		}
		if end == 0 {
			end = q.next
		}
		e := &purged{queue: q.id, frontier: q.stretch(from, end)}
		f := newFlight(e)
		if err := s.submit(f); err != nil {
			s.leave()
			return removed, err
		}
		s.mu.Unlock()
		if err := f.wait(ctx); err != nil {
			return removed, err
		}
		removed += e.removed
		if from = e.frontier; from == end {
			return removed, nil
		}
	}
}

// clear leaves little in a queue that is about to be deleted, so that its end is a short step: of a long one the
// snapshots end first, and then the messages go in pieces. A short one is left as it is.
func (s *Store) clear(ctx context.Context, n Name) error {
	s.mu.Lock()
	q := s.state.queueNames[n]
	if q == nil {
		s.mu.Unlock()
		return fmt.Errorf("%w: %s", ErrNotFound, n.Short())
	}
	snapshots := q.snapshots
	long := q.all.pages.Len() > stretch
	s.mu.Unlock()
	if !long {
		return nil
	}
	for _, sn := range snapshots {
		if err := s.deleteSnapshot(ctx, sn.name, sn); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	_, err := s.purge(ctx, q, n)
	return err
}
