package publisher

import "time"

// lane is the messages that go one behind the other: those without a key, or those of one key. It belongs to a
// dispatcher and is guarded by its lock.
type lane struct {
	key         string
	first, last *PublishResult
	count       int // of those that wait
	bytes       int // their encoded size
	requests    int // in flight; of a key at most one
	messages    int // in these
	paused      bool
	inTurn      bool // in the dispatcher's turn
	next        *lane

	// Of the classic policy only.
	late  bool // the oldest has waited long enough
	timer *time.Timer
}

func (l *lane) push(r *PublishResult) {
	if l.last == nil {
		l.first = r
	} else {
		l.last.next = r
	}
	l.last = r
	l.count++
	l.bytes += int(r.size)
}

// group is messages that travel in one request.
type group struct {
	lane   *lane
	first  *PublishResult
	count  int
	bytes  int // the encoded size of the messages, as flow control counts it
	abroad int // messages in flight when it left, its own among them
}

// take removes the next group from the lane: as many messages as wait, up to most, up to the one that makes it full,
// and within what a request can hold.
func (l *lane) take(most, full, room int) group {
	g := group{lane: l, first: l.first}
	framed := 0
	var last *PublishResult
	for r := l.first; r != nil && g.count < most && g.bytes < full; r = r.next {
		if framed += fieldSize(int(r.size)); framed > room && g.count > 0 {
			break
		}
		g.count++
		g.bytes += int(r.size)
		last = r
	}
	l.first, last.next = last.next, nil
	if l.first == nil {
		l.last = nil
	}
	l.count -= g.count
	l.bytes -= g.bytes
	return g
}

// idle tells whether nothing would be lost with the lane.
func (l *lane) idle() bool { return l.count == 0 && l.requests == 0 && !l.paused }

// turn is the keyed lanes that wait for a request, first come, first served.
type turn struct{ first, last *lane }

func (t *turn) push(l *lane) {
	l.inTurn, l.next = true, nil
	if t.last == nil {
		t.first = l
	} else {
		t.last.next = l
	}
	t.last = l
}

func (t *turn) pop() *lane {
	l := t.first
	t.first, l.next, l.inTurn = l.next, nil, false
	if t.first == nil {
		t.last = nil
	}
	return l
}
