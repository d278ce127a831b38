package queue

import (
	"context"
	"runtime"
)

// copyAhead copies which messages a queue has, so that a snapshot of it is taken in a short step. Call over when it was
// taken, or will not be. A queue that is not there, or goes meanwhile, is left to whoever takes the snapshot.
func (s *Store) copyAhead(ctx context.Context, of Name) (over func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.state.queueNames[s.Resolve(of)]
	if q == nil {
		return func() {}, nil
	}
	m := &q.all
	c := m.beginCopy()
	over = func() { s.locked(func() { m.endCopy(c) }) }
	for more := true; more; {
		more = m.copyOn(c)
		s.mu.Unlock()
		runtime.Gosched() // whoever waits for the lock gets it before the next piece
		err := ctx.Err()
		s.mu.Lock()
		if err != nil {
			return over, err
		}
	}
	return over, nil
}
