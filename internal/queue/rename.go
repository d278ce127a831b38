package queue

import (
	"context"
	"fmt"
	"slices"
)

// renamed gives a queue another name.
type renamed struct {
	queue uint32
	name  Name
}

func (*renamed) kind() eventKind { return kindRenamed }
func (e *renamed) append(b []byte) []byte {
	b = putUint(b, uint64(e.queue))
	b = putString(b, e.name.Namespace)
	return putString(b, e.name.Name)
}
func (e *renamed) read(r *reader) {
	e.queue = r.uint32()
	e.name = Name{r.string(), r.string()}
}

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

// grownByName is how much more is counted when q, whose definition will be def, gets another name: also for the names
// that it had, and for the queues whose dead letters go to it.
func (s *state) grownByName(q *queueState, def *Definition, to Name) int64 {
	grown := def.resident(to) - q.def.resident(q.name) + formerWeight(q.name)
	if i := slices.Index(q.former, to); i >= 0 {
		grown -= formerWeight(to)
	} else if len(q.former) == maxFormer {
		grown -= formerWeight(q.former[0])
	}
	if g := s.graves[q.name.String()]; g != nil {
		grown += int64(g.from.Len()) * int64(len(to.String())-len(g.name))
	}
	return grown
}

// takenError says that a name is in use. It is ErrExists.
type takenError struct {
	what string
	name Name
}

func (e *takenError) Error() string {
	return fmt.Sprintf("there is a %s %s already", e.what, e.name.Short())
}

func (e *takenError) Is(target error) bool { return target == ErrExists }

// deadLetterOf is the name of the dead-letter queue when a queue with a normal definition is renamed.
func deadLetterOf(d *Definition, from, to Name) string {
	var usual Definition
	if d.DeadLetter == usual.deadLetter(from).String() {
		return usual.deadLetter(to).String()
	}
	return d.DeadLetter
}

func (s *state) applyRenamed(e *renamed) {
	q := s.queues[e.queue]
	if q == nil || q.name == e.name {
		return
	}
	q.touch()
	s.follow(q)
	from := q.name
	q.def.DeadLetter = deadLetterOf(&q.def, from, e.name)
	if s.queueNames[from] == q {
		delete(s.queueNames, from)
		s.queueList.Delete(from)
	}
	q.name = e.name
	s.takeName(q)
	s.redefined(q)
	s.renameGrave(from.String(), e.name.String())
	s.rememberName(q, from)
}

// maxFormer is how many of its former names a queue is found by.
const maxFormer = 8

// rememberName remembers that q had a name, until another queue gets it.
func (s *state) rememberName(q *queueState, name Name) {
	s.forgetName(name)
	q.touch()
	q.former = append(slices.Clip(q.former), name)
	s.former[name] = q
	if len(q.former) > maxFormer {
		s.forgetName(q.former[0])
	}
	q.weigh()
}

// forgetName makes it nobody's former name.
func (s *state) forgetName(name Name) {
	if q := s.former[name]; q != nil {
		q.touch()
		q.former = slices.DeleteFunc(slices.Clone(q.former), func(n Name) bool { return n == name })
		delete(s.former, name)
		q.weigh()
	}
}

// takeName makes q the queue of its name.
func (s *state) takeName(q *queueState) {
	s.forgetName(q.name)
	s.queueNames[q.name] = q
	s.queueList.Set(q.name)
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

// nowCalled is the name that the queue has by now which a dead letter knows by an earlier one. The lock is held.
func (s *state) nowCalled(n Name) Name {
	if q := s.former[n]; q != nil && s.queueNames[n] == nil {
		return q.name
	}
	return n
}
