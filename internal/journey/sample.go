package journey

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/internal/message"
)

// sampler chooses the messages whose journeys are remembered whatever becomes of them: all while few come, and beyond
// every n-th, so that their number in a second stays about the same.
type sampler struct {
	most   int64 // in a second
	second atomic.Int64
	came   atomic.Int64 // in that second
	every  atomic.Int64 // what the second before came to
}

// takes tells whether the message is one of them. Whether it is follows from its id, so that what is put again, or
// arrives in another queue, is mostly judged alike.
func (s *sampler) takes(id *message.ID, now int64) bool {
	every := s.count(now)
	if every <= 1 {
		return true
	}
	return hashOf(id)>>32%uint64(every) == 0
}

// hashOf is a hash of an id, whose high bits are the best ones: ids that clients made may differ in some bits only.
func hashOf(id *message.ID) uint64 {
	const odd = 0x9e3779b97f4a7c15
	return (binary.LittleEndian.Uint64(id[8:]) ^ binary.LittleEndian.Uint64(id[:])) * odd
}

// count counts a message and returns of how many one is taken.
func (s *sampler) count(now int64) (every int64) {
	const second = 1_000_000_000
	if this, last := now/second, s.second.Load(); this > last && s.second.CompareAndSwap(last, this) {
		came := s.came.Swap(0)
		if this > last+1 {
			came = 0
		}
		s.every.Store((came + s.most - 1) / s.most)
	}
	came := s.came.Add(1)
	return max(s.every.Load(), (came-1)/s.most+1)
}

// rate is of how many messages one is taken now.
func (s *sampler) rate() int64 { return max(1, s.every.Load(), (s.came.Load()-1)/s.most+1) }
