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

// altered is the definition that q is to get when d is asked for, in normal form, and where its columns come from (nil:
// by their names); or why it cannot be. version is what q has to be of; 0: of any.
func (q *queueState) altered(d Definition, version uint64, from []int) (Definition, []int, error) {
	n := q.name
	bad := func(format string, args ...any) (Definition, []int, error) {
		return d, nil, fmt.Errorf("%w: queue %s %s", ErrDefinition, n.Short(), fmt.Sprintf(format, args...))
	}
	if version != 0 && version != q.version {
		return d, nil, fmt.Errorf("%w: the definition of queue %s", ErrChanged, n.Short())
	}
	if d.Topic == "" {
		d.Topic, d.Filter = q.def.Topic, q.def.Filter
	}
	if err := d.Check(n); err != nil {
		return d, nil, err
	}
	if d.Topic != q.def.Topic || d.Filter != q.def.Filter {
		return d, nil, fmt.Errorf("%w: queue %s: topic and filter cannot be changed (make another subscription)",
			ErrDefinition, n.Short())
	}
	if from == nil {
		from = sameNames(q.def.Columns, d.Columns)
	} else if err := checkFrom(q.def.Columns, d.Columns, from); err != nil {
		return d, nil, fmt.Errorf("%w: queue %s: %w", ErrDefinition, n.Short(), err)
	}
	occupied := q.occupied()
	if q.def.Unordered != d.Unordered && occupied > 0 {
		return bad("holds %d messages: ordering can change only while it is empty", occupied)
	}
	if (q.def.Columns == nil) != (d.Columns == nil) && occupied > 0 {
		return bad("holds %d messages: it can get its first columns, or lose all, only while it is empty", occupied)
	}
	if q.filter != nil {
		for _, name := range q.filter.Names() {
			_, was := q.def.Columns.Lookup(name)
			if _, is := d.Columns.Lookup(name); was && !is {
				return bad("needs its column %q for its filter: %s", name, q.def.Filter)
			}
		}
	}
	if q.prune(); len(q.layouts) >= maxLayouts && q.reshapes(d.Columns, from) {
		first, _ := q.firstKept(0)
		return bad("still holds message %d, from before %d alterations of its columns: that has to go first", first,
			len(q.layouts))
	}
	return d, from, nil
}

// toAlter is the event that gives q a definition, with columns that come from others, and how many bytes more it takes
// in memory then.
func (q *queueState) toAlter(d Definition, from []int, forgotten bool) (e event, grown int64) {
	defined := queueDefined{queue: q.id, name: q.name, def: d, forgotten: forgotten}
	grown = d.resident(q.name) - q.def.resident(q.name)
	if !q.reshapes(d.Columns, from) {
		return &defined, grown
	}
	grown += residentOfLayouts(q.reshaped(d.Columns, from, q.next)) - residentOfLayouts(q.layouts)
	return &reshaped{defined: defined, frontier: q.next, from: from}, grown
}
