package file

import (
	"math/bits"
	"slices"
)

// liveness says which lasting records of a segment are still needed. A record is known by the offset of its row in the
// group's table: rows are 32 bytes long and begin at multiples of 32, so a bit for every 32 bytes of file is enough to
// know each record, and releasing one twice does no harm.
type liveness struct {
	bits  []uint64
	count int
}

func slot(offset int64, index uint32) int64 {
	return (offset+groupHeaderBytes)/entryBytes + int64(index)
}

func (l *liveness) set(slot int64, size int64) {
	if l.bits == nil {
		l.bits = make([]uint64, (size/entryBytes+63)/64)
	}
	if word := slot / 64; word < int64(len(l.bits)) && l.bits[word]&(1<<(slot%64)) == 0 {
		l.bits[word] |= 1 << (slot % 64)
		l.count++
	}
}

// clear says whether the record was live.
func (l *liveness) clear(slot int64) bool {
	word := slot / 64
	if slot < 0 || word >= int64(len(l.bits)) || l.bits[word]&(1<<(slot%64)) == 0 {
		return false
	}
	l.bits[word] &^= 1 << (slot % 64)
	l.count--
	l.shrink()
	return true
}

// clearBefore clears all slots before end.
func (l *liveness) clearBefore(end int64) {
	for word := range l.bits {
		first := int64(word) * 64
		if first >= end {
			break
		}
		gone := l.bits[word]
		if left := end - first; left < 64 {
			gone &= 1<<left - 1
		}
		l.bits[word] &^= gone
		l.count -= bits.OnesCount64(gone)
	}
	l.shrink()
}

// clearFrom clears slot first and all behind it.
func (l *liveness) clearFrom(first int64) {
	for word := max(0, first/64); word < int64(len(l.bits)); word++ {
		gone := l.bits[word]
		if at := word * 64; at < first {
			gone &^= 1<<(first-at) - 1
		}
		l.bits[word] &^= gone
		l.count -= bits.OnesCount64(gone)
	}
	l.shrink()
}

// merge adds the slots of more, which is not used afterwards.
func (l *liveness) merge(more *liveness) {
	if len(l.bits) < len(more.bits) {
		l.bits, more.bits = more.bits, l.bits
		l.count, more.count = more.count, l.count
	}
	for word, b := range more.bits {
		l.count += bits.OnesCount64(b &^ l.bits[word])
		l.bits[word] |= b
	}
}

// has says whether a slot is live.
func (l *liveness) has(slot int64) bool {
	word := slot / 64
	return slot >= 0 && word < int64(len(l.bits)) && l.bits[word]&(1<<(slot%64)) != 0
}

// clone returns a copy.
func (l *liveness) clone() liveness { return liveness{bits: slices.Clone(l.bits), count: l.count} }

// cleared calls each for the slots that were live in l and are not in now.
func (l *liveness) cleared(now *liveness, each func(slot int64)) {
	for word, b := range l.bits {
		if word < len(now.bits) {
			b &^= now.bits[word]
		}
		for ; b != 0; b &= b - 1 {
			each(int64(word)*64 + int64(bits.TrailingZeros64(b)))
		}
	}
}

func (l *liveness) shrink() {
	if l.count == 0 {
		l.bits = nil
	}
}
