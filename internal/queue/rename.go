package queue

import (
	"context"
	"errors"
	"fmt"
)

// RenameQueue gives a queue another name, also in another namespace, with everything in it and all who hold or wait for
// any of it: tokens and waiting claims stay good, deduplication ids and sources' places are known, snapshots and the
// topic it subscribes to are its own as before. Puts to either name wait for it.
//
// Dead letters: queues whose dead letters go to it go on sending them there. The default name of its own dead-letter
// queue follows its name, so letters go to a new one from then on; a name that was given stays. Letters of before know
// it by its old name; a replay sends them to it unless another queue has that name by then.
//
// Errors: ErrNotFound; ErrExists when the new name is that of a queue or topic; ErrBadName; ErrDefinition when the new
// name is that of its dead-letter queue; ErrQueueFull when Limits.Memory has no room for the names that are kept, of it
// and of its queue of dead letters in the definitions of others; ErrNoRoom, ErrUnavailable, ErrClosed.
func (s *Store) RenameQueue(ctx context.Context, from, to Name) error {
	return s.RenameNoted(ctx, from, to)
}

// RenameNoted is RenameQueue with notes, which are kept in the same group.
func (s *Store) RenameNoted(ctx context.Context, from, to Name, notes ...Note) error {
	from, to = s.Resolve(from), s.Resolve(to)
	if err := to.Check(); err != nil {
		return err
	}
	names := []Name{from, to}
	over := func() {}
	return s.defineNames(ctx, terms{notes: notes}, func() (event, error) {
		q := s.state.queueNames[from]
		switch {
		case q == nil:
			return nil, fmt.Errorf("%w: %s", ErrNotFound, from.Short())
		case from == to:
			return nil, nil
		case s.state.queueNames[to] != nil:
			return nil, &takenError{"queue", to}
		case s.state.topicNames[to] != nil:
			return nil, &takenError{"topic", to}
		}
		def := q.def
		def.DeadLetter = deadLetterOf(&q.def, from, to)
		if err := def.Check(to); err != nil {
			return nil, err
		}
		var err error
		if over, err = s.reserve(s.state.grownByName(q, &def, to), false); err != nil {
			return nil, err
		}
		return &renamed{queue: q.id, name: to}, nil
	}, names, names, func() { over() })
}

// NowCalled is the name that the queue has by now which had a name before, if no other queue has that name; ok is false
// when there is no such queue.
func (s *Store) NowCalled(_ context.Context, n Name) (now Name, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n = s.Resolve(n)
	now = s.state.nowCalled(n)
	return now, now != n, s.usable()
}

// RenameDeadLetters lets the queues whose dead letters go to one name send them to another one, each with a group of
// its own: for when the queue of that name is in another store and was renamed there. After an error some have
// followed.
// Errors: ErrNoRoom, ErrUnavailable, ErrClosed, ctx's.
func (s *Store) RenameDeadLetters(ctx context.Context, from, to Name) error {
	from, to = s.Resolve(from), s.Resolve(to)
	for {
		some, err := s.burying(from)
		if err != nil || len(some) == 0 {
			return err
		}
		for i := range some {
			a := alteration{d: some[i].def, version: some[i].version, terms: terms{needed: true}}
			a.d.DeadLetter = to.String()
			err := s.alter(ctx, some[i].name, a)
			if err != nil && !errors.Is(err, ErrChanged) && !errors.Is(err, ErrNotFound) { // else look again
				return err
			}
		}
	}
}

// burying are some of the queues whose dead letters go to a name.
func (s *Store) burying(in Name) (some []definedAs, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.state.graves[in.String()]; g != nil {
		g.from.Scan(func(_ uint32, q *queueState) bool {
			some = append(some, definedAs{q.name, q.def, q.version})
			return len(some) < atOnce
		})
	}
	return some, s.usable()
}
