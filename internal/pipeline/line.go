package pipeline

// line is a first-in, first-out row that keeps its memory. Its length is bounded by its stage.
type line[T any] struct {
	slots []T // the length is a power of two
	head  int
	n     int
}

func (l *line[T]) push(x T) {
	if l.n == len(l.slots) {
		slots := make([]T, max(16, 2*len(l.slots)))
		k := copy(slots, l.slots[l.head:])
		copy(slots[k:], l.slots[:l.head])
		l.slots, l.head = slots, 0
	}
	l.slots[(l.head+l.n)&(len(l.slots)-1)] = x
	l.n++
}

func (l *line[T]) front() T { return l.slots[l.head] }

func (l *line[T]) at(i int) T { return l.slots[(l.head+i)&(len(l.slots)-1)] }

func (l *line[T]) pop() T {
	var none T
	x := l.slots[l.head]
	l.slots[l.head] = none
	l.head = (l.head + 1) & (len(l.slots) - 1)
	l.n--
	return x
}
