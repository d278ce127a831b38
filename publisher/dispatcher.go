package publisher

import (
	"context"
	"runtime"
	"sync"
	"time"

	"cloud.google.com/go/pubsub/v2"
)

// dispatcher decides which messages leave, when and with whom. Its senders are goroutines, as many as there are requests in flight and one that waits
// for work: each takes a group, sends it, answers its messages, and looks for the next.
type dispatcher struct {
	// What follows is set before the first message comes.
	settings PublishSettings
	room     int // bytes of framed messages that a request can hold
	send     func(g *group) (took time.Duration, ids []string, err error)
	atEnd    func() // called when all is over; nil: nothing is

	mu       sync.Mutex
	unkeyed  lane
	keys     map[string]*lane // those that have something outstanding or are paused
	turn     turn
	keyed    bool // a keyed lane had the last request: if both can have the next, it is the other's
	window   window
	starting bool // a sender was started and has taken nothing yet
	senders  int
	idle     bool          // one of them has nothing to do
	call     chan struct{} // and waits here
	requests int           // in flight
	messages int           // in these

	outstanding      int // messages that were admitted and whose room was not given back
	outstandingBytes int
	blocked          waiters
	unanswered       int // messages that were admitted and not completed

	stopped bool
	ended   chan struct{} // closed when stopped, and nothing is left to answer, and no sender is left
	epoch   uint32        // the number of calls of Flush
	flushes []*flushing
	stats   Stats
}

func newDispatcher() *dispatcher {
	return &dispatcher{keys: make(map[string]*lane), call: make(chan struct{}, 1), ended: make(chan struct{})}
}

// prepare tells a dispatcher all that it has to know before the first message comes.
func (d *dispatcher) prepare(s PublishSettings, room int, send func(g *group) (time.Duration, []string, error), atEnd func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settings, d.room, d.send, d.atEnd = s, room, send, atEnd
}

// open starts the sender that waits for work, so that the first message finds it there.
func (d *dispatcher) open() {
	d.senders++
	go d.serve()
}

// admit puts a message into its lane. There is room for it. The lock is held, and given up.
func (d *dispatcher) admit(r *PublishResult) {
	l := &d.unkeyed
	if key := r.msg.OrderingKey; key != "" {
		l = d.lane(key)
	}
	if l.paused {
		d.mu.Unlock()
		r.complete("", pubsub.ErrPublishingPaused{OrderingKey: l.key})
		return
	}
	d.enter(l, r)
	d.mu.Unlock()
}

// enter is admit where the lane is known and open.
func (d *dispatcher) enter(l *lane, r *PublishResult) {
	r.epoch = d.epoch
	d.outstanding++
	d.outstandingBytes += int(r.size)
	d.unanswered++
	l.push(r)
	if d.settings.DelayThreshold > 0 && l.count == 1 {
		d.arm(l)
	}
	d.queue(l)
	d.kick()
}

// lane returns the lane of a key, which is made when there is none.
func (d *dispatcher) lane(key string) *lane {
	l := d.keys[key]
	if l == nil {
		l = &lane{key: key}
		d.keys[key] = l
	}
	return l
}

// due tells whether a lane's next group may leave as far as the lane is concerned.
func (d *dispatcher) due(l *lane) bool {
	s := &d.settings
	switch {
	case l.count == 0, l.key != "" && l.requests > 0:
		return false
	case l.count >= s.CountThreshold, l.bytes >= s.ByteThreshold, d.stopped, len(d.flushes) > 0:
		return true
	case s.DelayThreshold > 0:
		return l.late || d.blocked.first != nil // what stands in the way of others leaves
	case l.key != "":
		return true
	}
	return l.count >= d.window.need(l.requests, l.messages)
}

// queue gives a keyed lane its place in the turn if it is due.
func (d *dispatcher) queue(l *lane) {
	if l.key != "" && !l.inTurn && d.due(l) {
		d.turn.push(l)
	}
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

// kick lets a sender work if there is something to do for one. One at a time is enough, since a sender that took a group passes the word on; and what
// is published before it runs finds its way into its group.
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

// serve is the life of a sender. One of them stays when there is nothing to do: to begin anew for each lone message takes longer than to wake.
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

// deepen makes the stack of a sender as large as a call needs it, at once and beforehand, instead of little by little during the first.
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

// finish takes note of how a request ended: room is given back, and a key that failed is paused. It returns the messages that
// can no longer be sent for that.
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

// forget drops the lane of a key that has nothing to remember.
func (d *dispatcher) forget(l *lane) {
	if l.key != "" && l.idle() {
		if l.timer != nil {
			l.timer.Stop()
		}
		delete(d.keys, l.key)
	}
}

// resume lets the messages of a key be published again.
func (d *dispatcher) resume(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.keys[key]; l != nil && key != "" {
		l.paused = false
		d.forget(l)
	}
}

// pause refuses the messages of a key that are published from now on.
func (d *dispatcher) pause(key string) {
	if key == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lane(key).paused = true
}

// arm sets the timer for the lane's oldest message, which is taken to have come now: one that was left behind by a full request waits anew.
func (d *dispatcher) arm(l *lane) {
	if l.timer == nil {
		l.timer = time.AfterFunc(d.settings.DelayThreshold, func() { d.tick(l) })
		return
	}
	l.timer.Reset(d.settings.DelayThreshold)
}

func (d *dispatcher) tick(l *lane) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l.count > 0 {
		l.late = true
		d.queue(l)
		d.kick()
	}
}

// offer admits a message when flow control has room for it, or tells why not.
func (d *dispatcher) offer(ctx context.Context, r *PublishResult) {
	d.mu.Lock()
	err := d.refusal(r)
	switch {
	case err == nil:
		d.admit(r)
		return
	case err != errWait:
		d.mu.Unlock()
	default:
		err = d.wait(ctx, r) // gives the lock up
	}
	if err != nil {
		if err != pubsub.ErrPublisherStopped {
			d.pause(r.msg.OrderingKey) // the order would have a hole
		}
		r.complete("", err)
	}
}
