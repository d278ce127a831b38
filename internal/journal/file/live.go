package file

import (
	"math/bits"
	"slices"
)

// liveness says which lasting records of a segment are still needed. A record is known by the offset of its row in the
// group's table: rows are 32 bytes long and begin at multiples of 32, so a bit for every 32 bytes of file is enough to
// know each record, and releasing one twice does no harm. There are bits from the first record that was needed when
// none was before: of a log whose messages go as they come a few words, and not the whole segment's for each of them.
type liveness struct {
	first int64 // the number of the word that bits begin with
	bits  []uint64
	count int
}

// keptWords is how many words of bits an empty liveness keeps for the next ones.
const keptWords = 64

func slot(offset int64, index uint32) int64 {
	return (offset+groupHeaderBytes)/entryBytes + int64(index)
}

// set adds a slot of a segment of so many bytes.
func (l *liveness) set(slot int64, size int64) {
	if slot < 0 || slot >= size/entryBytes {
		return
	}
	if w := l.reach(slot / 64); *w&(1<<(slot%64)) == 0 {
		*w |= 1 << (slot % 64)
		l.count++
	}
}

// reach returns the word of a number, up or down to which bits grow.
func (l *liveness) reach(number int64) *uint64 {
	switch have := int64(len(l.bits)); {
	case l.count == 0:
		l.first, l.bits = number, append(l.bits[:0], 0)
	case number < l.first:
		more := min(l.first, max(l.first-number, have)) // as many again, so that the next ones cost nothing
		l.first, l.bits = l.first-more, slices.Insert(l.bits, 0, make([]uint64, more)...)
	case number-l.first >= have:
		l.bits = append(l.bits, make([]uint64, number-l.first+1-have)...)
	}
	return &l.bits[number-l.first]
}

// word returns the word of a slot, nil if there is none.
func (l *liveness) word(slot int64) *uint64 {
	at := slot/64 - l.first
	if slot < 0 || at < 0 || at >= int64(len(l.bits)) {
		return nil
	}
	return &l.bits[at]
}

// clear says whether the record was live.
func (l *liveness) clear(slot int64) bool {
	w := l.word(slot)
	if w == nil || *w&(1<<(slot%64)) == 0 {
		return false
	}
	*w &^= 1 << (slot % 64)
	l.count--
	l.shrink()
	return true
}

// clearBefore clears all slots before end.
func (l *liveness) clearBefore(end int64) {
	for i := range l.bits {
		first := (l.first + int64(i)) * 64
		if first >= end {
			break
		}
		gone := l.bits[i]
		if left := end - first; left < 64 {
			gone &= 1<<left - 1
		}
		l.bits[i] &^= gone
		l.count -= bits.OnesCount64(gone)
	}
	l.shrink()
}

// clearFrom clears slot first and all behind it.
func (l *liveness) clearFrom(first int64) {
	for i := max(0, first/64-l.first); i < int64(len(l.bits)); i++ {
		gone := l.bits[i]
		if at := (l.first + i) * 64; at < first {
			gone &^= 1<<(first-at) - 1
		}
		l.bits[i] &^= gone
		l.count -= bits.OnesCount64(gone)
	}
	l.shrink()
}

// merge adds the slots of more, which is not used afterwards.
func (l *liveness) merge(more *liveness) {
	if len(l.bits) < len(more.bits) {
		*l, *more = *more, *l
	}
	for i, b := range more.bits {
		if b == 0 {
			continue
		}
		w := l.reach(more.first + int64(i))
		l.count += bits.OnesCount64(b &^ *w)
		*w |= b
	}
}

// has says whether a slot is live.
func (l *liveness) has(slot int64) bool {
	w := l.word(slot)
	return w != nil && *w&(1<<(slot%64)) != 0
}

// clone returns a copy.
func (l *liveness) clone() liveness {
	return liveness{first: l.first, bits: slices.Clone(l.bits), count: l.count}
}

// cleared calls each for the slots that were live in l and are not in now.
func (l *liveness) cleared(now *liveness, each func(slot int64)) {
	for i, b := range l.bits {
		first := (l.first + int64(i)) * 64
		if w := now.word(first); w != nil {
			b &^= *w
		}
		for ; b != 0; b &= b - 1 {
			each(first + int64(bits.TrailingZeros64(b)))
		}
	}
}

// shrink gives back what an empty liveness does not need for the next few records.
func (l *liveness) shrink() {
	switch {
	case l.count > 0:
	case cap(l.bits) > keptWords:
		l.bits = nil
	default:
		l.bits = l.bits[:0]
	}
}
