package publisher

import (
	"runtime"
	"time"
)

// open starts the sender that waits for work, so that the first message finds it there.
func (d *dispatcher) open() {
	d.senders++
	go d.serve()
}

// choose returns the lane that has the next request, nil if none has.
func (d *dispatcher) choose() *lane {
	switch {
	case d.requests >= d.settings.NumGoroutines:
		return nil
	case (d.turn.first == nil || d.keyed) && d.due(&d.unkeyed):
		return &d.unkeyed
	}
	return d.turn.first
}

// kick lets a sender work if there is something to do for one. One at a time is enough, since a sender that took a
// group passes the word on; and what is published before it runs finds its way into its group.
func (d *dispatcher) kick() {
	if d.starting || d.choose() == nil {
		return
	}
	d.starting = true
	if d.idle {
		d.rouse()
		return
	}
	d.senders++
	go d.serve()
}

// serve is the life of a sender. One of them stays when there is nothing to do: to begin anew for each lone message
// takes longer than to wake.
func (d *dispatcher) serve() {
	deepen()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.work()
	for d.rest() {
		d.work()
	}
	d.senders--
	d.end()
}

// deepen makes the stack of a sender as large as a call needs it, at once and beforehand, instead of little by little
// during the first.
//
//go:noinline
func deepen() {
	var deep [12 << 10]byte
	runtime.KeepAlive(&deep)
}

// rest waits for work. It returns false if that is another's, or there will be none.
func (d *dispatcher) rest() bool {
	if d.idle || d.stopped {
		return false
	}
	d.idle = true
	d.mu.Unlock()
	<-d.call
	d.mu.Lock()
	return true
}

// rouse ends the rest of the sender that is idle.
func (d *dispatcher) rouse() {
	d.idle = false
	d.call <- struct{}{} // there is room: only who is idle was not called yet
}

// work sends groups while there are any. The lock is held, but while they are sent and answered.
func (d *dispatcher) work() {
	d.starting = false
	for l := d.choose(); l != nil; l = d.choose() {
		g := d.take(l)
		d.kick()
		d.mu.Unlock()
		took, ids, err := d.send(&g)
		d.mu.Lock()
		rejected := d.finish(&g, took, err)
		d.kick()
		d.mu.Unlock()
		answered := d.answer(&g, rejected, ids, err)
		d.mu.Lock()
		d.settle(answered)
	}
}

func (d *dispatcher) take(l *lane) group {
	d.keyed = l.key != ""
	if d.keyed {
		d.turn.pop()
	}
	g := l.take(d.settings.CountThreshold, d.settings.ByteThreshold, d.room)
	l.requests++
	l.messages += g.count
	d.requests++
	d.messages += g.count
	g.abroad = d.messages
	d.stats.took(&g, d.requests)
	if l.late = false; l.count > 0 && d.settings.DelayThreshold > 0 {
		d.arm(l)
	}
	return g
}

// finish takes note of how a request ended: room is given back, and a key that failed is paused. It returns the
// messages that can no longer be sent for that.
func (d *dispatcher) finish(g *group, took time.Duration, err error) (rejected group) {
	l := g.lane
	l.requests--
	l.messages -= g.count
	d.requests--
	d.messages -= g.count
	d.release(g)
	if took > 0 {
		d.window.note(took, g.abroad)
	}
	if err != nil && l.key != "" {
		l.paused = true
		rejected = group{lane: l, first: l.first, count: l.count, bytes: l.bytes}
		l.first, l.last, l.count, l.bytes = nil, nil, 0, 0
		d.release(&rejected)
	}
	if l.key != "" {
		d.queue(l)
		d.forget(l)
	}
	d.admitBlocked()
	return rejected
}

func (d *dispatcher) release(g *group) {
	d.outstanding -= g.count
	d.outstandingBytes -= g.bytes
}
