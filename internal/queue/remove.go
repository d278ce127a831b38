package queue

import (
	"context"
	"slices"
)

// removeBatch is how many messages are removed in one group.
const removeBatch = 10_000

// Remove takes messages out of a queue, whether they are ready, delayed or behind another of their key, and returns how
// many when that is durable. Those that are claimed are left, and what is not there is passed over. Like purged ones
// they are gone also where the queue has a history, but for snapshots that hold them. Up to 10,000 go as one atomic
// group, fewer where many snapshots have to be asked about them, and more in several; after an error removed counts
// those groups that are done. While it is on its way nobody can claim them.
//
// Errors: ErrNotFound, ErrUnavailable, ErrClosed. After ctx's error they may or may not be gone.
func (s *Store) Remove(ctx context.Context, n Name, sequences []uint64) (removed int, err error) {
	sorted := slices.Compact(slices.Sorted(slices.Values(sequences)))
	for len(sorted) > 0 {
		done, looked, err := s.removeSome(ctx, n, sorted)
		removed += done
		if err != nil {
			return removed, err
		}
		sorted = sorted[looked:]
	}
	return removed, nil
}

// removeSome removes the first of some messages in one group, and tells at how many it has looked. Their sequences
// rise.
func (s *Store) removeSome(ctx context.Context, n Name, sequences []uint64) (done, looked int, err error) {
	if err := s.enter(ctx); err != nil {
		return 0, 0, err
	}
	q, err := s.queueOf(n)
	if err != nil {
		s.leave()
		return 0, 0, err
	}
	s.catchUp() // a claim whose lease has ended is none
	e, es, looked := s.state.toRemove(q,
		sequences[:min(len(sequences), removeBatch, s.groups.GroupBytes/passingRoom)])
	if len(es) == 0 {
		s.leave()
		return 0, looked, nil
	}
	f := newFlight(e)
	f.undo = func() { s.state.relentAll(q, es) }
	if err := s.submit(f); err != nil {
		f.undo()
		s.state.serve()
		s.settleUp()
		s.leave()
		return 0, 0, err
	}
	s.mu.Unlock()
	if err := f.wait(ctx); err != nil {
		return 0, 0, err
	}
	return e.count, looked, nil
}
