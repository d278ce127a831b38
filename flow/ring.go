package flow

// ring is a queue that grows as needed and keeps its memory. Its zero value is empty. It is guarded by whoever owns it.
type ring[T any] struct {
	slots []T // as many as a power of two
	head  int
	n     int
}

// at returns the i-th item from the front.
func (r *ring[T]) at(i int) *T { return &r.slots[(r.head+i)&(len(r.slots)-1)] }

// extend adds an item at the end and returns its slot, which may still hold what an item before had of memory.
func (r *ring[T]) extend() *T {
	if r.n == len(r.slots) {
		slots := make([]T, max(4, 2*r.n))
		for i := range r.n {
			slots[i] = *r.at(i)
		}
		r.slots, r.head = slots, 0
	}
	r.n++
	return r.at(r.n - 1)
}

func (r *ring[T]) push(v T) { *r.extend() = v }

// pop removes the item at the front and keeps nothing of it.
func (r *ring[T]) pop() T {
	front := r.at(0)
	v := *front
	var zero T
	*front = zero
	r.drop()
	return v
}

// drop removes the item at the front and leaves what its slot holds to extend.
func (r *ring[T]) drop() {
	r.head = (r.head + 1) & (len(r.slots) - 1)
	r.n--
}
