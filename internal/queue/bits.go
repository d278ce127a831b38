package queue

import (
	"encoding/binary"
	"math/bits"

	"github.com/tidwall/btree"
)

// pageSize is how many neighbouring sequences are kept together.
const pageSize = 1 << 8

// pageOf and slotOf say where a sequence is kept.
func pageOf(seq uint64) uint64 { return seq / pageSize }
func slotOf(seq uint64) uint8  { return uint8(seq % pageSize) }

// bitmap is a set of the slots of a page.
type bitmap [pageSize / 64]uint64

func (b *bitmap) has(slot uint8) bool { return b[slot/64]&(1<<(slot%64)) != 0 }
func (b *bitmap) set(slot uint8)      { b[slot/64] |= 1 << (slot % 64) }
func (b *bitmap) clear(slot uint8)    { b[slot/64] &^= 1 << (slot % 64) }
func (b *bitmap) empty() bool         { return *b == bitmap{} }

func (b bitmap) or(o bitmap) bitmap {
	for i := range b {
		b[i] |= o[i]
	}
	return b
}

func (b *bitmap) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// rank is how many slots before this one are in the set.
func (b *bitmap) rank(slot uint8) (n int) {
	for i := range slot / 64 {
		n += bits.OnesCount64(b[i])
	}
	return n + bits.OnesCount64(b[slot/64]&(1<<(slot%64)-1))
}

// nth is the slot that so many others of the set stand before: rank's inverse. There is one.
func (b *bitmap) nth(i int) uint8 {
	for k, w := range b {
		n := bits.OnesCount64(w)
		if i >= n {
			i -= n
			continue
		}
		return uint8(k*64 + nthOf(w, i))
	}
	return 0
}

// nthOf is nth in one word. It halves what it looks at.
func nthOf(w uint64, i int) (at int) {
	if n := bits.OnesCount32(uint32(w)); i >= n {
		i, w, at = i-n, w>>32, 32
	}
	if n := bits.OnesCount16(uint16(w)); i >= n {
		i, w, at = i-n, w>>16, at+16
	}
	if n := bits.OnesCount8(uint8(w)); i >= n {
		i, w, at = i-n, w>>8, at+8
	}
	if n := bits.OnesCount8(uint8(w) & 0xf); i >= n {
		i, w, at = i-n, w>>4, at+4
	}
	if n := bits.OnesCount8(uint8(w) & 0x3); i >= n {
		i, w, at = i-n, w>>2, at+2
	}
	if i >= int(w&1) {
		at++
	}
	return at
}

// next is the first slot in the set from the given one on; pageSize when there is none.
func (b *bitmap) next(slot int) int {
	for slot < pageSize {
		if w := b[slot/64] >> (slot % 64); w != 0 {
			return slot + bits.TrailingZeros64(w)
		}
		slot = (slot/64 + 1) * 64
	}
	return pageSize
}

// before is the last slot in the set up to the given one; negative when there is none.
func (b *bitmap) before(slot int) int {
	for slot >= 0 {
		if w := b[slot/64] << (63 - slot%64); w != 0 {
			return slot - bits.LeadingZeros64(w)
		}
		slot = slot/64*64 - 1
	}
	return -1
}

// sequences is an ordered set of sequences, a bit each where they are dense. The zero value is empty and ready to use.
type sequences struct {
	blocks btree.Map[uint64, *bitmap]
	n      int
}

// Len is the number of sequences in the set.
func (s *sequences) Len() int { return s.n }

// Has tells whether seq is in the set.
func (s *sequences) Has(seq uint64) bool {
	b, ok := s.blocks.Get(pageOf(seq))
	return ok && b.has(slotOf(seq))
}

// Add tells whether seq was not in the set before.
func (s *sequences) Add(seq uint64) bool {
	b, ok := s.blocks.Get(pageOf(seq))
	if !ok {
		b = new(bitmap)
		s.blocks.Set(pageOf(seq), b)
	}
	if b.has(slotOf(seq)) {
		return false
	}
	b.set(slotOf(seq))
	s.n++
	return true
}

// Delete tells whether seq was in the set.
func (s *sequences) Delete(seq uint64) bool {
	b, ok := s.blocks.Get(pageOf(seq))
	if !ok || !b.has(slotOf(seq)) {
		return false
	}
	b.clear(slotOf(seq))
	s.n--
	if b.empty() {
		s.blocks.Delete(pageOf(seq))
	}
	return true
}

// addPage adds the slots of a page of which none is in the set.
func (s *sequences) addPage(number uint64, b bitmap) {
	if !b.empty() {
		s.blocks.Set(number, &b)
		s.n += b.count()
	}
}

// deletePage takes all slots of a page out.
func (s *sequences) deletePage(number uint64) {
	if b, ok := s.blocks.Delete(number); ok {
		s.n -= b.count()
	}
}

// Min is the least sequence; ok is false when there is none.
func (s *sequences) Min() (seq uint64, ok bool) {
	number, b, ok := s.blocks.Min()
	if !ok {
		return 0, false
	}
	return number*pageSize + uint64(b.next(0)), true
}

// Ascend calls each for the sequences from one on, in their order, until it returns false. The set must not be changed
// meanwhile.
func (s *sequences) Ascend(from uint64, each func(seq uint64) bool) {
	s.blocks.Ascend(pageOf(from), func(number uint64, b *bitmap) bool {
		first := 0
		if number == pageOf(from) {
			first = int(slotOf(from))
		}
		for slot := b.next(first); slot < pageSize; slot = b.next(slot + 1) {
			if !each(number*pageSize + uint64(slot)) {
				return false
			}
		}
		return true
	})
}

// Descend is Ascend the other way.
func (s *sequences) Descend(from uint64, each func(seq uint64) bool) {
	s.blocks.Descend(pageOf(from), func(number uint64, b *bitmap) bool {
		last := pageSize - 1
		if number == pageOf(from) {
			last = int(slotOf(from))
		}
		for slot := b.before(last); slot >= 0; slot = b.before(slot - 1) {
			if !each(number*pageSize + uint64(slot)) {
				return false
			}
		}
		return true
	})
}

// append writes the set behind b.
func (s *sequences) append(b []byte) []byte {
	b = putUint(b, uint64(s.blocks.Len()))
	s.blocks.Scan(func(page uint64, slots *bitmap) bool {
		b = putUint(b, page)
		for _, w := range slots {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		return true
	})
	return b
}

// read reads what append wrote, into an empty set.
func (s *sequences) read(r *reader) {
	for range r.count(1 + pageSize/8) {
		page := r.uint()
		s.addPage(page, r.bitmap())
	}
}
