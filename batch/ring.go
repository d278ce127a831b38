package batch

import "time"

// entry is an item that waits.
type entry[T any] struct {
	item   T
	result *Result // nil: nobody asked for one
	size   int
	at     time.Duration // when it was offered, since the grouper's beginning; only where there is a Delay
}

// ring is a queue that keeps its memory. Its length is bounded by its owner.
type ring[T any] struct {
	slots []entry[T] // the length is a power of two
	head  int
	n     int
}

func (r *ring[T]) push(e entry[T]) {
	if r.n == len(r.slots) {
		r.grow()
	}
	r.slots[(r.head+r.n)&(len(r.slots)-1)] = e
	r.n++
}

func (r *ring[T]) front() *entry[T] { return &r.slots[r.head] }

// drop forgets the front, so that what the item refers to can be collected.
func (r *ring[T]) drop() {
	r.slots[r.head] = entry[T]{}
	r.head = (r.head + 1) & (len(r.slots) - 1)
	r.n--
}

func (r *ring[T]) grow() {
	slots := make([]entry[T], max(16, 2*len(r.slots)))
	k := copy(slots, r.slots[r.head:])
	copy(slots[k:], r.slots[:r.head])
	r.slots, r.head = slots, 0
}
