package rows

import (
	"encoding/binary"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/component"
)

// part is some rows of a pile that are next to each other.
type part struct {
	values []Value
	from   []int // the messages' places in the batch
	named  int   // rows that were taken out because the database named them
}

// mostNamed is how many rows that the database names are taken out one by one, with everything else written again. If
// there are more, the block is divided there and behind: what is sent stays below a few times the rows, however many
// are refused.
const mostNamed = 2

func (q part) cut(from, to, width int) part {
	return part{values: q.values[from*width : to*width], from: q.from[from:to], named: q.named}
}

// without takes a row out, in place.
func (q part) without(row, width int) part {
	copy(q.values[row*width:], q.values[(row+1)*width:])
	copy(q.from[row:], q.from[row+1:])
	n := len(q.from) - 1
	return part{values: q.values[:n*width], from: q.from[:n], named: q.named + 1}
}

// parts writes a pile: in one transaction, and in several where rows are refused, of which each then stands alone or
// was named.
func (w *writing) parts(p *pile) {
	width := len(p.layout.columns)
	block := &Block{Table: w.plan.table, Mode: w.sink.settings.mode, Columns: p.layout.columns, Key: p.layout.key,
		Sole: w.plan.sole}
	rest := []part{{values: p.values, from: p.from}}
	for len(rest) > 0 {
		q := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		if len(q.from) == 0 {
			continue
		}
		block.Values = q.values
		row, err := w.attempt(block, q.from)
		if err == nil {
			continue
		}
		n := len(q.from)
		switch {
		case n == 1:
			w.outcomes[q.from[0]] = w.refused(err)
		case row < 0 || row >= n:
			w.sink.counts.halvings.Add(1)
			rest = append(rest, q.cut(n/2, n, width), q.cut(0, n/2, width))
		case q.named < mostNamed:
			w.outcomes[q.from[row]] = w.refused(err)
			rest = append(rest, q.without(row, width))
		default:
			w.sink.counts.halvings.Add(1)
			w.outcomes[q.from[row]] = w.refused(err)
			half := row + 1 + (n-row-1)/2
			rest = append(rest, q.cut(half, n, width), q.cut(row+1, half, width), q.cut(0, row, width))
		}
	}
}

// refused is the outcome of a row that the database does not take, with what it says.
func (w *writing) refused(err error) component.Outcome {
	return component.Reject(fmt.Errorf("table %s: %w", w.plan.table.Name, err))
}

// lastOfEach writes a pile in which a key may stand several times. The last row of a key is written, and the others
// count as it does; where it is refused, the one before it has its turn.
func (w *writing) lastOfEach(p *pile) {
	for len(p.from) > 0 {
		now, before, last := p.lasts()
		w.parts(now)
		if len(before.from) == 0 {
			return
		}
		stale := map[int]bool{}
		for _, i := range w.stale {
			stale[i] = true
		}
		width := len(p.layout.columns)
		next := &pile{layout: p.layout}
		for k, i := range before.from {
			switch {
			case stale[last[k]]:
				w.stale = append(w.stale, i)
			case w.outcomes[last[k]].Verdict == component.Rejected:
				next.from = append(next.from, i)
				next.values = append(next.values, before.values[k*width:(k+1)*width]...)
			default:
				w.outcomes[i] = w.outcomes[last[k]]
			}
		}
		p = next
	}
}

// lasts divides a pile into the last row of each key and those before; last has the places of the messages that stand
// for the latter.
func (p *pile) lasts() (now, before *pile, last []int) {
	width := len(p.layout.columns)
	newest := make(map[string]int, len(p.from))
	keys := make([]string, len(p.from))
	var key []byte
	for r := range p.from {
		key = p.appendKey(key[:0], r)
		keys[r] = string(key)
		newest[keys[r]] = r
	}
	if len(newest) == len(p.from) {
		return p, &pile{}, nil
	}
	now, before = &pile{layout: p.layout}, &pile{layout: p.layout}
	for r, i := range p.from {
		to := now
		if n := newest[keys[r]]; n != r {
			to = before
			last = append(last, p.from[n])
		}
		to.from = append(to.from, i)
		to.values = append(to.values, p.values[r*width:(r+1)*width]...)
	}
	return now, before, last
}

// appendKey writes what tells a value from others.
func (v Value) appendKey(b []byte) []byte {
	b = append(b, byte(v.kind))
	b = binary.BigEndian.AppendUint64(b, v.num)
	b = binary.BigEndian.AppendUint32(b, uint32(v.nanos))
	b = binary.AppendUvarint(b, uint64(len(v.text)))
	return append(b, v.text...)
}
