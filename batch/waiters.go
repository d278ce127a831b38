package batch

// waiter is a call that waits for room. Whoever makes room moves its entry into the queue, so that no call overtakes
// another.
type waiter[T any] struct {
	entry      entry[T]
	admitted   chan error // nil: the entry is in the queue. Room for one: the sender never waits
	prev, next *waiter[T]
	waiting    bool // in the list
}

// waiters is a list in the order of arrival. All of it is guarded by the grouper's mutex.
type waiters[T any] struct {
	first, last *waiter[T]
	n           int
}

func (l *waiters[T]) push(w *waiter[T]) {
	w.prev, w.waiting = l.last, true
	if l.last != nil {
		l.last.next = w
	} else {
		l.first = w
	}
	l.last = w
	l.n++
}

func (l *waiters[T]) remove(w *waiter[T]) {
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		l.first = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		l.last = w.prev
	}
	w.prev, w.next, w.waiting = nil, nil, false
	l.n--
}
