package flow

import (
	"context"
	"slices"
)

// hand is a goroutine that works on items, one after the other, taking the next when it is free.
type hand[In, Out any] struct {
	crew   *crew[In, Out]
	ctx    context.Context
	place  *place
	cancel context.CancelCauseFunc // where Ordered is set; else the crew's will do

	busy bool
	seq  uint64 // of the item that it works on
	item In
	out  outlet
}

// wakeHand lets one hand look at the jobs, a new one if all are busy and there may be more. Whoever takes a job passes
// the word on.
func (c *crew[In, Out]) wakeHand() {
	switch {
	case c.jobs.n == 0 || c.waking:
	case c.idle > 0:
		c.idle--
		c.waking = true
		c.job.Signal()
	case c.alive < c.o.Concurrency:
		c.waking = true
		c.alive++
		h := &hand[In, Out]{crew: c, cancel: func(error) {}}
		h.out.room.L = &c.mu
		h.ctx, h.place = newPlace(c.ctx, &place{name: "goroutine", of: c.of})
		if c.o.Ordered {
			h.ctx, h.cancel = context.WithCancelCause(h.ctx)
		}
		c.hands = append(c.hands, h)
		c.ended.Add(1)
		go h.run()
	}
}

// run is the life of a hand.
func (h *hand[In, Out]) run() {
	c := h.crew
	defer c.ended.Done()
	defer h.cancel(nil)
	over := false
	defer func() {
		if !over { // the work has ended this goroutine
			h.abandon()
		}
	}()
	last, fresh := piece[Out]{none: true}, true
	for h.take(last, fresh) {
		last = c.work(h, h.item)
		fresh = false
	}
	over = true
}

// take delivers the last result of the item before and waits for the next item. false: there is none for this hand any
// more. A fresh hand was just made, and counts as woken.
func (h *hand[In, Out]) take(last piece[Out], fresh bool) bool {
	c := h.crew
	c.mu.Lock()
	defer c.mu.Unlock()
	if fresh {
		c.waking = false
	} else {
		h.finish(last)
	}
	for {
		switch {
		case c.jobs.n > 0 && !c.vain(c.jobs.at(0).seq):
			j := c.jobs.pop()
			h.busy, h.seq, h.item = true, j.seq, j.item
			c.wakeHand()
			c.wakeSource()
			return true
		case c.refuses():
			c.alive--
			return false
		}
		c.idle++
		c.job.Wait()
		c.waking = false
	}
}

// finish delivers the last result of the hand's item and leaves the item. The lock is held.
func (h *hand[In, Out]) finish(last piece[Out]) {
	c := h.crew
	if !last.none {
		c.deliver(h.seq, last)
	}
	var zero In
	item := h.item
	h.busy, h.item = false, zero
	if c.keys != nil {
		if j, ok := c.keys.leave(item); ok {
			c.jobs.push(j)
			c.wakeHand()
		}
	}
	c.done(h.seq)
}

// emit delivers a result and waits while too many of this hand have not been taken. false: no more are wanted.
func (h *hand[In, Out]) emit(r piece[Out]) bool {
	c := h.crew
	c.mu.Lock()
	defer c.mu.Unlock()
	if h.out.n >= c.o.Prefetch && !c.vain(h.seq) {
		c.await(h.ctx, h.place, &h.out.room, &h.out.waits,
			func() bool { return h.out.n < c.o.Prefetch || c.vain(h.seq) })
	}
	if c.vain(h.seq) {
		return false
	}
	h.out.n++
	r.from = &h.out
	c.deliver(h.seq, r)
	return !c.vain(h.seq)
}

// abandon is what becomes of a hand whose work ended its goroutine: the item has an error and another hand may take its
// place.
func (h *hand[In, Out]) abandon() {
	c := h.crew
	c.mu.Lock()
	defer c.mu.Unlock()
	h.finish(piece[Out]{err: ErrExited})
	c.alive--
	c.hands = slices.DeleteFunc(c.hands, func(other *hand[In, Out]) bool { return other == h })
	c.wakeHand()
}
