package queue

import (
	"fmt"
	"slices"

	"github.com/hikyaku/hikyaku/internal/message"
)

// appendLayouts writes the layouts of a queue behind b, for a checkpoint. What they share is written once: else a few
// hundred alterations of a column with many members were gigabytes.
func appendLayouts(b []byte, layouts []*layout) []byte {
	b = putUint(b, uint64(len(layouts)))
	if len(layouts) == 0 {
		return b
	}
	columns := 0
	for _, l := range layouts {
		columns = max(columns, len(l.fields))
	}
	b = putUint(b, uint64(columns))
	ways := make([][]message.Column, columns)
	for i := range ways {
		ways[i] = longest(layouts, i)
		b = putWay(b, ways[i])
	}
	var before *layout
	for _, l := range layouts {
		b = putUint(b, l.upto)
		b = putUint(b, uint64(l.width))
		b = putUint(b, uint64(len(l.fields)))
		for i := range l.fields {
			f := &l.fields[i]
			if b = putInt(b, int64(f.from)); f.from != fixed {
				n := len(f.through)
				if rest := ways[i][len(ways[i])-n:]; sameWay(rest, f.through) {
					b = putUint(b, uint64(n)<<1)
				} else {
					b = putUint(b, 1)
					b = putWay(b, f.through)
				}
				continue
			}
			same := before != nil && i < len(before.fields) && before.fields[i].from == fixed &&
				before.fields[i].value == f.value
			if b = putBool(b, same); !same {
				b = putValue(b, f.value)
			}
		}
		before = l
	}
	return b
}

func putWay(b []byte, through []message.Column) []byte {
	b = putUint(b, uint64(len(through)))
	for _, c := range through {
		b = putString(b, c.String())
	}
	return b
}

// readLayouts reads what appendLayouts wrote of a queue with some columns, so that they share what they did. whole: the
// format is that of before, where each stands for itself.
func readLayouts(r *reader, columns message.Columns, whole bool) []*layout {
	in := layoutReader{r: r, columns: map[string]message.Column{}, values: map[message.Value]message.Value{}}
	for _, c := range columns {
		in.columns[passed(c).String()] = passed(c)
		if c.Default != nil {
			in.values[*c.Default] = *c.Default
		}
	}
	layouts := make([]*layout, r.count(3))
	if !whole && len(layouts) > 0 {
		in.ways = make([]way, r.count(1))
		for i := range in.ways {
			in.ways[i].columns = in.parse(in.texts())
		}
	}
	for i := range layouts {
		layouts[i] = in.layout(whole)
		in.before = layouts[i]
	}
	return layouts
}

// layoutReader reads layouts, the oldest first. What was read already stands for what is alike.
type layoutReader struct {
	r       *reader
	columns map[string]message.Column // by their texts
	values  map[message.Value]message.Value
	ways    []way   // of each of today's columns the longest
	before  *layout // the last that was read
}

// way is through which types a value has gone.
type way struct {
	texts   []string // of the format of before
	columns []message.Column
}

func (in *layoutReader) layout(whole bool) *layout {
	r := in.r
	l := &layout{upto: r.uint(), width: int(r.uint32())}
	l.fields = make([]field, r.count(2))
	for len(in.ways) < len(l.fields) {
		in.ways = append(in.ways, way{})
	}
	for i := range l.fields {
		f := &l.fields[i]
		f.from = int(r.int())
		switch {
		case f.from == fixed && !whole && r.bool():
			if in.before == nil || i >= len(in.before.fields) {
				r.fail(fmt.Errorf("%w: a value is that of a layout that is not there", errTruncated))
				continue
			}
			f.value = in.before.fields[i].value
			continue
		case f.from == fixed:
			f.value = in.value()
			continue
		case f.from < 0 || f.from >= l.width:
			r.fail(fmt.Errorf("%w: value %d of a row that has %d", errTruncated, f.from, l.width))
		}
		if whole {
			f.through = in.through(&in.ways[i])
			continue
		}
		f.through = in.rest(in.ways[i].columns)
	}
	return l
}

func (in *layoutReader) value() message.Value {
	v := in.r.value()
	if known, there := in.values[v]; there {
		return known
	}
	in.values[v] = v
	return v
}

// rest reads a way that is mostly the end of the longest.
func (in *layoutReader) rest(longest []message.Column) []message.Column {
	x := in.r.uint()
	if x&1 != 0 {
		return in.parse(in.texts())
	}
	if n := uint64(len(longest)); x>>1 <= n {
		return longest[n-x>>1:]
	}
	in.r.fail(fmt.Errorf("%w: a value went through %d types of %d", errTruncated, x>>1, len(longest)))
	return nil
}

func (in *layoutReader) texts() []string {
	texts := make([]string, in.r.count(1))
	for i := range texts {
		texts[i] = in.r.string()
	}
	return texts
}

// through reads, in the format of before, through which types a value of a column has gone: mostly the end of a longer
// way.
func (in *layoutReader) through(longest *way) []message.Column {
	texts := in.texts()
	if n := len(longest.texts) - len(texts); n >= 0 && slices.Equal(longest.texts[n:], texts) {
		return longest.columns[n:]
	}
	*longest = way{texts, in.parse(texts)}
	return longest.columns
}

func (in *layoutReader) parse(texts []string) []message.Column {
	through := make([]message.Column, len(texts))
	for i, text := range texts {
		c, known := in.columns[text]
		if !known {
			var err error
			if c, err = message.ParseColumn(text); err != nil {
				in.r.fail(fmt.Errorf("%w: layout: %w", errTruncated, err))
			}
			in.columns[text] = c
		}
		through[i] = c
	}
	return through
}
