package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/message"
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

// askedOrigins is how many places of a source are looked for under one hold of the lock.
const askedOrigins = 1000

// TookFrom is those of some offsets of a source of which the queue took the messages, whatever became of them since,
// and what all offsets that it took are less than. Those below the source's mark count as taken: they come no more.
// ErrNotFound: there is no such queue.
func (s *Store) TookFrom(_ context.Context, n Name, source string, offsets []uint64) (taken []uint64, next uint64,
	err error) {
	for {
		some := offsets[:min(len(offsets), askedOrigins)]
		if next, err = s.tookSome(n, source, some, &taken); err != nil {
			return nil, 0, err
		}
		if offsets = offsets[len(some):]; len(offsets) == 0 || next == 0 {
			return taken, next, nil
		}
	}
}

func (s *Store) tookSome(n Name, source string, offsets []uint64, taken *[]uint64) (next uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.queueOf(n)
	if err != nil {
		return 0, err
	}
	st, known := q.origins.Get(source)
	if !known {
		return 0, nil
	}
	for _, offset := range offsets {
		if q.tookBefore(&message.Origin{Source: source, Offset: offset}) {
			*taken = append(*taken, offset)
		}
	}
	next = st.mark
	if p, some := st.taken.Max(); some {
		next = max(next, p.offset+1)
	}
	return next, nil
}
