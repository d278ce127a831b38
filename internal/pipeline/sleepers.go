package pipeline

import (
	"container/heap"
	"time"
)

// sleepers are parts that wait for their retry, the next to wake first.
type sleepers struct {
	parts heapOfParts
	count uint64
}

func (s *sleepers) len() int { return len(s.parts) }

func (s *sleepers) add(q *part, due time.Time) {
	s.count++
	q.due, q.order = due, s.count
	heap.Push(&s.parts, q)
}

// next is when the first of them wakes; zero: there is none.
func (s *sleepers) next() time.Time {
	if len(s.parts) == 0 {
		return time.Time{}
	}
	return s.parts[0].due
}

// wake returns one that is due, or nil.
func (s *sleepers) wake(now time.Time) *part {
	if len(s.parts) == 0 || s.parts[0].due.After(now) {
		return nil
	}
	return heap.Pop(&s.parts).(*part)
}

// after takes out all that wake after t.
func (s *sleepers) after(t time.Time) []*part {
	var late []*part
	kept := s.parts[:0]
	for _, q := range s.parts {
		if q.due.After(t) {
			late = append(late, q)
		} else {
			kept = append(kept, q)
		}
	}
	clear(s.parts[len(kept):])
	s.parts = kept
	heap.Init(&s.parts)
	return late
}

type heapOfParts []*part

func (h heapOfParts) Len() int { return len(h) }
func (h heapOfParts) Less(i, j int) bool {
	if h[i].due.Equal(h[j].due) {
		return h[i].order < h[j].order
	}
	return h[i].due.Before(h[j].due)
}
func (h heapOfParts) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *heapOfParts) Push(x any)   { *h = append(*h, x.(*part)) }
func (h *heapOfParts) Pop() any {
	old := *h
	q := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return q
}
