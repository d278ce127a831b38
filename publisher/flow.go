package publisher

import (
	"context"
	"errors"

	"cloud.google.com/go/pubsub/v2"
)

// errWait stands for: there is no room now, and the settings say to wait for it.
var errWait = errors.New("wait for room")

// refusal says why a message cannot be admitted now. The lock is held.
func (d *dispatcher) refusal(r *PublishResult) error {
	if d.stopped {
		return pubsub.ErrPublisherStopped
	}
	f := &d.settings.FlowControlSettings
	switch {
	case f.LimitExceededBehavior == pubsub.FlowControlIgnore:
		return nil
	case f.LimitExceededBehavior == pubsub.FlowControlBlock:
		if d.blocked.first == nil && d.fits(r) {
			return nil
		}
		return errWait
	case d.outstanding >= f.MaxOutstandingMessages:
		return pubsub.ErrFlowControllerMaxOutstandingMessages
	case d.outstandingBytes+int(r.size) > f.MaxOutstandingBytes:
		return pubsub.ErrFlowControllerMaxOutstandingBytes
	}
	return nil
}

// fits tells whether there is room for a message. One that is larger than all the room there is fits when nothing else
// is outstanding.
func (d *dispatcher) fits(r *PublishResult) bool {
	f := &d.settings.FlowControlSettings
	return d.outstanding == 0 || d.outstanding < f.MaxOutstandingMessages &&
		d.outstandingBytes+int(r.size) <= f.MaxOutstandingBytes
}

// waiter is a call of Publish that waits for room. Whoever makes room admits its message, so that no call overtakes
// another.
type waiter struct {
	result     *PublishResult
	over       chan error // nil: the message was admitted, or refused for its key. Room for one: the sender never waits
	prev, next *waiter
	waiting    bool // in the list
}

// waiters is a list in the order of arrival.
type waiters struct{ first, last *waiter }

func (l *waiters) push(w *waiter) {
	w.prev, w.waiting = l.last, true
	if l.last != nil {
		l.last.next = w
	} else {
		l.first = w
	}
	l.last = w
}

func (l *waiters) remove(w *waiter) {
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
}

// wait blocks until the message was admitted, or its context or the publisher ended. The lock is held, and given up.
func (d *dispatcher) wait(ctx context.Context, r *PublishResult) error {
	if err := ctx.Err(); err != nil {
		d.mu.Unlock()
		return err
	}
	w := &waiter{result: r, over: make(chan error, 1)}
	d.blocked.push(w)
	d.stats.Blocked++
	if d.blocked.first == w {
		d.kickBlocked()
	}
	d.mu.Unlock()
	select {
	case err := <-w.over:
		return err
	case <-ctx.Done():
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !w.waiting { // it was decided meanwhile
		return <-w.over
	}
	d.blocked.remove(w)
	d.admitBlocked() // a smaller one behind it may fit
	return ctx.Err()
}

// kickBlocked lets lanes leave that stand in the way of somebody: of the classic policy, where a clock is waited for.
func (d *dispatcher) kickBlocked() {
	if d.settings.DelayThreshold == 0 {
		return
	}
	for _, l := range d.keys {
		d.queue(l)
	}
	d.kick()
}

// admitBlocked admits those who wait, as far as there is room.
func (d *dispatcher) admitBlocked() {
	for w := d.blocked.first; w != nil && d.fits(w.result); w = d.blocked.first {
		d.blocked.remove(w)
		l := &d.unkeyed
		if key := w.result.msg.OrderingKey; key != "" {
			l = d.lane(key)
		}
		if l.paused {
			w.over <- pubsub.ErrPublishingPaused{OrderingKey: l.key}
			continue
		}
		d.enter(l, w.result)
		w.over <- nil
	}
}

// refuseBlocked ends the waiting of all.
func (d *dispatcher) refuseBlocked(err error) {
	for w := d.blocked.first; w != nil; w = d.blocked.first {
		d.blocked.remove(w)
		w.over <- err
	}
}
