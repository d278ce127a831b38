package queue

import (
	"fmt"
	"slices"

	"github.com/hikyaku/hikyaku/internal/message"
)

// reshaped changes the definition of a queue with other columns while there are messages in it.
type reshaped struct {
	defined  queueDefined
	frontier uint64 // messages before are of the old columns
	from     []int  // of each column now, which of the old ones it was; or fixed
}

func (*reshaped) kind() eventKind { return kindReshaped }
func (e *reshaped) append(b []byte) []byte {
	b = e.defined.append(b)
	b = putUint(b, e.frontier)
	b = putUint(b, uint64(len(e.from)))
	for _, f := range e.from {
		b = putInt(b, int64(f))
	}
	return b
}
func (e *reshaped) read(r *reader) {
	e.defined.read(r)
	e.frontier = r.uint()
	e.from = make([]int, r.count(1))
	for i := range e.from {
		e.from[i] = int(r.int())
	}
}

func (s *state) applyReshaped(e *reshaped, at int64) error {
	q := s.queues[e.defined.queue]
	if q == nil {
		return nil
	}
	old, now := q.def.Columns, e.defined.def.Columns
	if len(e.from) != len(now) || slices.ContainsFunc(e.from, func(f int) bool { return f < fixed || f >= len(old) }) {
		return fmt.Errorf("%w: columns of queue %s are made of others than it has", errTruncated, q.name.Short())
	}
	q.touch()
	s.follow(q)
	s.redefinePast(q, &e.defined, at)
	q.prune()
	layouts := q.reshaped(now, e.from, e.frontier)
	// A sequence that was given to a put which failed must not be given, after a restart, to a row of the new columns.
	q.next = max(q.next, e.frontier)
	q.views = nil // they are of the old columns
	q.layouts = layouts
	q.def = e.defined.def
	s.redefined(q)
	s.newColumns(q)
	q.prune()
	s.askAgain(q)
	return nil
}

// reshaped is how what is before a sequence will be shown when the columns of q, which still has the old ones, are now.
func (q *queueState) reshaped(now message.Columns, from []int, frontier uint64) []*layout {
	old := q.def.Columns
	return reshape(append(slices.Clip(q.layouts), asPut(len(old), frontier)), old, now, from)
}

// sameNames is which old column each new one is when nobody says it: the one of its name.
func sameNames(old, now message.Columns) []int {
	from := make([]int, len(now))
	for i := range now {
		from[i] = fixed
		if at, ok := old.Lookup(now[i].Name); ok {
			from[i] = at
		}
	}
	return from
}

// checkFrom says what is wrong with what a caller says of where columns come from.
func checkFrom(old, now message.Columns, from []int) error {
	if len(from) != len(now) {
		return fmt.Errorf("%d columns, and %d are said to come from others", len(now), len(from))
	}
	used := make([]bool, len(old))
	for i, f := range from {
		switch {
		case f == fixed:
		case f < 0 || f >= len(old):
			return fmt.Errorf("column %q is said to come from column %d, there are %d", now[i].Name, f, len(old))
		case used[f]:
			return fmt.Errorf("columns %q and another are said to come from column %q", now[i].Name, old[f].Name)
		default:
			used[f] = true
		}
	}
	return nil
}

// inPlace tells whether each column comes from the one at its place.
func inPlace(from []int) bool {
	for i, f := range from {
		if f != i {
			return false
		}
	}
	return true
}

// occupied is how many messages the queue holds, with those that are on their way into it.
func (q *queueState) occupied() int64 { return int64(q.all.Len()) + int64(q.all.past) + q.reserved }

// reshapes tells whether messages from before are to be shown in another way with these columns.
func (q *queueState) reshapes(now message.Columns, from []int) bool {
	return q.occupied() > 0 && (!inPlace(from) || !sameColumns(q.def.Columns, now))
}
