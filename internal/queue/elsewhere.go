package queue

import (
	"context"
	"errors"
	"fmt"
)

// elsewhere is the lane to a name that is another store's; nil: it is this one's.
func (s *Store) elsewhere(n Name, as Meaning) *Lane {
	if s.away == nil {
		return nil
	}
	return s.away(n, as)
}

// laneTo is the queue of this store into which what is for another queue goes. It makes the lane to another store.
func (s *Store) laneTo(ctx context.Context, n Name) (Name, error) {
	lane := s.elsewhere(n, AQueue)
	if lane == nil {
		return n, nil
	}
	lane.use()
	_, err := s.createQueue(ctx, lane.Queue, lane.Definition, terms{needed: true})
	if err != nil && !errors.Is(err, ErrExists) {
		return n, fmt.Errorf("make the lane to queue %s: %w", n.Short(), err)
	}
	return lane.Queue, nil
}

// Has tells whether there is a queue of that name. It waits for definitions of it that are under way.
func (s *Store) Has(ctx context.Context, n Name) (bool, error) {
	n = s.Resolve(n)
	for {
		s.mu.Lock()
		err, f, there := s.usable(), s.defining[n], s.state.queueNames[n] != nil
		s.mu.Unlock()
		if err != nil || f == nil {
			return there, err
		}
		if err := f.wait(ctx); err != nil && ctx.Err() != nil {
			return false, err
		}
	}
}
