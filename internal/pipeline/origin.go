package pipeline

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/message"
)

// tellApart gives a message that a transform made an identity of its own, the same each time it is made again. The
// first keeps the id of what it was made from; the others get one computed from it. A deduplication id is always
// computed: two steps may make different messages of one, for one queue, and none may pass for the other.
func tellApart(m *message.Message, from *message.Message, part uint64, index int) {
	m.ID = from.ID
	if index > 0 {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(from.ID[:], part))
		copy(m.ID[:], sum[:])
		m.ID[6] = m.ID[6]&0x0f | 0x80 // version 8 of RFC 9562: made by a rule of one's own
		m.ID[8] = m.ID[8]&0x3f | 0x80
	}
	m.Dedup = from.Dedup
	if from.Dedup != "" {
		m.Dedup += "~" + strconv.FormatUint(part, 16)
	}
}

// partOf is the Origin.Part of the index-th message that a step makes from one with the given part: FNV-1a, 64 bits.
func partOf(parent uint64, step string, index int) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	number := func(n uint64) {
		for range 8 {
			h = (h ^ n&0xff) * prime
			n >>= 8
		}
	}
	number(parent)
	for i := range len(step) {
		h = (h ^ uint64(step[i])) * prime
	}
	number(uint64(index))
	return h
}
