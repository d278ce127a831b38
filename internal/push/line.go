package push

// line is the requests that wait for a stream, first in, first out. One leaves from the middle when its deadline
// passes.
type line struct {
	first, last *Call
	n           int
}

func (l *line) push(c *Call) {
	c.prev, c.next = l.last, nil
	if l.last != nil {
		l.last.next = c
	} else {
		l.first = c
	}
	l.last = c
	l.n++
}

// back puts a call first.
func (l *line) back(c *Call) {
	c.prev, c.next = nil, l.first
	if l.first != nil {
		l.first.prev = c
	} else {
		l.last = c
	}
	l.first = c
	l.n++
}

func (l *line) remove(c *Call) {
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		l.first = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		l.last = c.prev
	}
	c.prev, c.next = nil, nil
	l.n--
}
