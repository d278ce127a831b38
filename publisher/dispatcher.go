package publisher

import (
	"context"
	"sync"
	"time"

	"cloud.google.com/go/pubsub/v2"
)

// dispatcher decides which messages leave, when and with whom. Its senders are goroutines, as many as there are
// requests in flight and one that waits for work: each takes a group, sends it, answers its messages, and looks for the
// next.
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
func (d *dispatcher) prepare(s PublishSettings, room int, send func(g *group) (time.Duration, []string, error),
	atEnd func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settings, d.room, d.send, d.atEnd = s, room, send, atEnd
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
	if r.span != nil {
		r.span.admitted()
	}
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

// arm sets the timer for the lane's oldest message, which is taken to have come now: one that was left behind by a full
// request waits anew.
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
