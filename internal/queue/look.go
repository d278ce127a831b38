package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/journal"
)

// queueOf finds a queue. The lock is held.
func (s *Store) queueOf(n Name) (*queueState, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	n = s.Resolve(n)
	q := s.state.queueNames[n]
	if q == nil {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, n.Short())
	}
	return q, nil
}

// Parse reads a condition and checks its names against the queue's columns, if it has any. "" is no condition: nil.
func (s *Store) Parse(_ context.Context, n Name, where string) (*condition.Expr, error) {
	if where == "" {
		return nil, nil
	}
	e, err := condition.Parse(where)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCondition, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.state.queueNames[s.Resolve(n)]
	if err := s.sound(); err != nil || q == nil {
		return e, err
	}
	if err := e.Check(q.known, q.candidates()); err != nil {
		return nil, fmt.Errorf("%w: queue %s: %w", ErrCondition, q.name.Short(), err)
	}
	return e, nil
}

// Stats describes a queue now.
func (s *Store) Stats(_ context.Context, n Name) (Stats, error) {
	defer s.keepShown()
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.queueOf(n)
	if err != nil {
		return Stats{}, err
	}
	s.catchUp()
	return q.stats(), nil
}

// Look shows one message, whatever its state. ErrGone: it is not there (any more), which costs no look at others.
func (s *Store) Look(ctx context.Context, n Name, sequence uint64) (Peeked, error) {
	s.mu.Lock()
	q, err := s.queueOf(n)
	if err != nil {
		s.mu.Unlock()
		return Peeked{}, err
	}
	s.catchUp()
	name := q.name
	e, there := q.all.Get(sequence)
	var found []Peeked
	var parts []stored
	if there {
		found, parts = []Peeked{s.state.peeked(q, e, s.state.stateOf(q, e))}, []stored{q.stored(e)}
	}
	s.mu.Unlock()
	if there {
		if found, err = s.read(ctx, found, parts, false); err != nil {
			return Peeked{}, err
		}
	}
	if len(found) == 0 {
		return Peeked{}, fmt.Errorf("%w: message %d of queue %s", ErrGone, sequence, name.Short())
	}
	return found[0], nil
}

// TokenOf returns the token of the claim that holds a message now, for protocols in which an earlier reader of a
// message may still act on it. ok is false when nobody holds it, when its end is on the way, and when it is its
// owner's: nobody else may act on that.
func (s *Store) TokenOf(_ context.Context, n Name, sequence uint64) (t Token, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.queueOf(n)
	if errors.Is(err, ErrNotFound) {
		return t, false, nil
	}
	if err != nil {
		return t, false, err
	}
	s.catchUp()
	t, ok = s.state.tokenOf(q, sequence)
	return t, ok, nil
}

// QueueOf is the name of the queue that a token is of, whatever became of the claim. ok is false when the queue is
// gone.
func (s *Store) QueueOf(_ context.Context, t Token) (n Name, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.state.queues[t.Queue]
	if err := s.sound(); err != nil || q == nil {
		return n, false, err
	}
	return q.name, true, nil
}

// Definition tells how a queue is defined; its columns and labels are the store's own: read them only. The version is
// another one after each change of the definition or the name, and after each start, and never that of another queue:
// who keeps what it has made of a definition need only compare it. It costs a look into a table.
func (s *Store) Definition(_ context.Context, n Name) (d Definition, version uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.queueOf(n)
	if err != nil {
		return Definition{}, 0, err
	}
	return q.def, q.version, nil
}

// read completes peeked messages. One that was settled meanwhile, or whose body is damaged, has no body and says so.
func (s *Store) read(ctx context.Context, found []Peeked, parts []stored, noBody bool) ([]Peeked, error) {
	s.keepShown()
	fill := func(i int, part []byte) error {
		m, err := parts[i].message(part)
		if err != nil {
			return err
		}
		m.Hops = found[i].Message.Hops
		found[i].Message = m
		return nil
	}
	if noBody {
		for i := range found {
			if err := fill(i, nil); err != nil {
				return nil, err
			}
		}
		return found, nil
	}
	gone := map[int]bool{}
	places := make([]journal.Address, len(parts))
	for i := range parts {
		places[i] = parts[i].place
	}
	err := s.journal.Read(ctx, places, func(i int, r journal.Record, err error) {
		part := r.Body
		if part == nil {
			part = []byte{}
		}
		if errors.Is(err, journal.ErrReleased) {
			gone[i] = true // settled since
			return
		}
		if err == nil {
			err = fill(i, part)
		}
		if err != nil {
			found[i].Damage = err.Error()
			_ = fill(i, nil)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	kept := found[:0]
	for i := range found {
		if !gone[i] {
			kept = append(kept, found[i])
		}
	}
	return kept, nil
}
