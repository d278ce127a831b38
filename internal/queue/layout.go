package queue

import (
	"slices"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// A row stays as it was put, in memory and in the journal. When the columns of its queue are altered, a layout says how
// rows from before are shown from then on: which value stands where, and through which columns it has gone on its way,
// one alteration after the other, because what an earlier one has cut off does not come back. So an alteration takes no
// time, whatever the queue holds.

// layout is how rows are shown that were put before an alteration. It is not changed once it was made.
type layout struct {
	upto   uint64  // it is that of messages before this sequence, and not before that of the layout before it
	width  int     // values in such a row
	fields []field // of today's columns
}

// field is where the value of a column comes from.
type field struct {
	from    int              // place in the row; fixed: there is none
	value   message.Value    // fixed: the value that the column had when it was added, or what became of it
	through []message.Column // types that the value was converted to, the earliest first
}

// fixed is the place of a value that is not in the row.
const fixed = -1

// maxLayouts bounds the alterations that a queue remembers for messages from before.
const maxLayouts = 200

// layoutOf is the layout of a message; nil: it is shown as it was put.
func (q *queueState) layoutOf(seq uint64) *layout {
	n := len(q.layouts)
	if n == 0 || seq >= q.layouts[n-1].upto {
		return nil
	}
	i, _ := slices.BinarySearchFunc(q.layouts, seq+1, func(l *layout, upto uint64) int {
		if l.upto < upto {
			return -1
		}
		return 1
	})
	return q.layouts[i]
}

// shape makes a row one of today's columns. A nil layout leaves it as it is.
func (l *layout) shape(row []message.Value) []message.Value {
	if l == nil || row == nil {
		return row
	}
	shaped := make([]message.Value, len(l.fields))
	for i := range l.fields {
		shaped[i] = l.fields[i].of(func(at int) message.Value {
			if at >= len(row) {
				return message.Null()
			}
			return row[at]
		})
	}
	return shaped
}

// of is the value of the field in a row whose values stored gives.
func (f *field) of(stored func(at int) message.Value) message.Value {
	if f.from == fixed {
		return f.value
	}
	v := stored(f.from)
	for i := range f.through {
		if v.IsNull() { // also one that was left out because it is large
			return v
		}
		var err error
		if v, err = f.through[i].Convert(v); err != nil {
			return message.Null() // no alteration is made that a value of the queue does not fit
		}
	}
	return v
}

// asPut is the layout that shows rows of so many values before a sequence as they are.
func asPut(width int, upto uint64) *layout {
	l := &layout{upto: upto, width: width, fields: make([]field, width)}
	for i := range l.fields {
		l.fields[i].from = i
	}
	return l
}

// reshape makes the next layouts of those that there are: from says of each column now which of the old ones it was, or
// fixed. What layouts have in common they share: they are made of one another, one alteration after the other, so the
// types that a value went through since a later one are the last of those since an earlier one.
func reshape(layouts []*layout, old, now message.Columns, from []int) []*layout {
	next := make([]*layout, len(layouts))
	for n, l := range layouts {
		next[n] = &layout{upto: l.upto, width: l.width, fields: make([]field, len(now))}
	}
	for i := range now {
		become := becoming(layouts, old, now[i], from[i])
		for n, l := range layouts {
			var was field
			if from[i] != fixed {
				was = l.fields[from[i]]
			}
			next[n].fields[i] = become(was)
		}
	}
	return next
}

// becoming is what makes fields of the old column at a place, or of none, those of a column.
func becoming(layouts []*layout, old message.Columns, c message.Column, at int) func(field) field {
	switch {
	case at == fixed:
		v, _ := filler(c) // null where there is none: then there are no rows
		return func(field) field { return field{from: fixed, value: v} }
	case keeps(old[at], c):
		return func(f field) field { return f }
	}
	far := longest(layouts, at)
	through := append(slices.Clip(far), passed(c))
	var last, converted message.Value // neighbours mostly have one value
	return func(f field) field {
		if f.from != fixed {
			return field{from: f.from, through: through[len(far)-len(f.through):]}
		}
		if converted.IsNull() || f.value != last {
			var err error
			if converted, err = c.Convert(f.value); err != nil {
				converted = message.Null() // then there are no rows
			}
			last = f.value
		}
		return field{from: fixed, value: converted}
	}
}

// longest are the types through which a value of the column at a place has gone on the longest way.
func longest(layouts []*layout, at int) (through []message.Column) {
	for _, l := range layouts {
		if at < len(l.fields) && len(l.fields[at].through) > len(through) {
			through = l.fields[at].through
		}
	}
	return through
}

// passed is what is remembered of a column through which values have gone.
func passed(c message.Column) message.Column {
	return message.Column{Name: c.Name, Type: c.Type, Length: c.Length, Scale: c.Scale, Unsigned: c.Unsigned,
		Members: c.Members}
}

// filler is what rows from before have in a column that is added: its default, null, or what MySQL puts there.
func filler(c message.Column) (message.Value, error) {
	switch {
	case c.Default != nil:
		return *c.Default, nil
	case !c.NotNull:
		return message.Null(), nil
	case c.Type.IsInstant():
		return message.Null(), &message.ColumnError{Column: c.Name,
			Reason: "is not null and has no default: there is no " + c.Type.String() +
				" to give the rows that are there"}
	case c.Type == message.TypeEnum:
		return c.Convert(message.Int(1))
	case c.Type == message.TypeTime:
		return c.Convert(message.String("00:00:00"))
	case c.Type == message.TypeJSON:
		return c.Convert(message.String("null"))
	case c.Type.IsText(), c.Type.IsBytes():
		return c.Convert(message.String(""))
	}
	return c.Convert(message.Int(0))
}

// keeps tells whether every value of a column is one of another as it is.
func keeps(old, now message.Column) bool {
	integers := func(c message.Column) bool { return c.Type >= message.TypeTinyInt && c.Type <= message.TypeBigInt }
	varying := func(c message.Column) bool { return c.Type == message.TypeVarchar || c.Type == message.TypeVarbinary }
	texts := func(c message.Column) bool {
		return c.Type.IsText() && c.Type != message.TypeChar && c.Type != message.TypeVarchar
	}
	blobs := func(c message.Column) bool {
		return c.Type.IsBytes() && c.Type != message.TypeBinary && c.Type != message.TypeVarbinary
	}
	switch {
	case old.Type.IsChoice() || now.Type.IsChoice():
		same := len(old.Members) <= len(now.Members) && slices.Equal(old.Members, now.Members[:len(old.Members)])
		return old.Type == now.Type && same
	case integers(old) && integers(now):
		return old.Unsigned == now.Unsigned && old.Type <= now.Type
	case texts(old) && texts(now), blobs(old) && blobs(now):
		return old.Length <= now.Length
	case old.Type == message.TypeVarchar && texts(now):
		return utf8.UTFMax*old.Length <= now.Length // one counts characters, the other bytes
	case old.Type == message.TypeVarbinary && blobs(now):
		return old.Length <= now.Length
	case old.Type != now.Type || old.Unsigned != now.Unsigned:
		return false
	case old.Type == message.TypeFloat, old.Type == message.TypeDouble, old.Type == message.TypeYear:
		return true // what stands in parentheses has no effect
	case varying(old), old.Type == message.TypeDateTime, old.Type == message.TypeTimestamp:
		return old.Length <= now.Length
	}
	return old.Length == now.Length && old.Scale == now.Scale
}

// prune forgets layouts that no message has, and takes neighbours that show rows alike for one.
func (q *queueState) prune() {
	if len(q.layouts) == 0 {
		return
	}
	var kept []*layout // a new one: a checkpoint may be looking at the old one
	from := uint64(0)
	for _, l := range q.layouts {
		switch seq, there := q.firstKept(from); {
		case !there || seq >= l.upto:
		case len(kept) > 0 && kept[len(kept)-1].like(l):
			kept[len(kept)-1] = l
		default:
			kept = append(kept, l)
		}
		from = l.upto
	}
	for n := len(kept); n > 0 && kept[n-1].plain(len(q.def.Columns)); n-- {
		kept = kept[:n-1]
	}
	q.layouts = slices.Clip(kept)
	q.weigh()
}

// firstKept is the first message from a sequence on, or one of the past.
func (q *queueState) firstKept(from uint64) (seq uint64, there bool) {
	for p := range q.all.pagesFrom(pageOf(from)) {
		first := 0
		if p.number == pageOf(from) {
			first = int(slotOf(from))
		}
		kept := p.kept()
		if slot := kept.next(first); slot < pageSize {
			return entry{p, uint8(slot)}.seq(), true
		}
	}
	return 0, false
}

// like tells whether two layouts show rows alike.
func (l *layout) like(o *layout) bool {
	return l.width == o.width && slices.EqualFunc(l.fields, o.fields, func(a, b field) bool {
		return a.from == b.from && a.value == b.value && sameWay(a.through, b.through)
	})
}

// sameWay tells whether two ways are alike; of layouts of one queue those of one length share their columns.
func sameWay(a, b []message.Column) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || sameColumns(a, b))
}

// plain tells whether it shows rows, of so many columns, as they were put.
func (l *layout) plain(columns int) bool {
	return l.width == columns && l.like(asPut(columns, l.upto))
}

// stored is where the parts of a message are: taken under the lock, to be read without it.
type stored struct {
	head   []byte
	place  journal.Address
	layout *layout
}

func (q *queueState) stored(e entry) stored {
	return stored{e.head(), e.place(), q.layoutOf(e.seq())}
}

// message is what decodeMessage makes of it, its row shown by the columns of the moment when it was taken.
func (x *stored) message(body []byte) (message.Message, error) {
	m, err := decodeMessage(x.head, body)
	if err == nil {
		m.Row = x.layout.shape(m.Row)
	}
	return m, err
}
