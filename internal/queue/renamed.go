package queue

import (
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

// nowCalled is the name that the queue has by now which a dead letter knows by an earlier one. The lock is held.
func (s *state) nowCalled(n Name) Name {
	if q := s.former[n]; q != nil && s.queueNames[n] == nil {
		return q.name
	}
	return n
}
