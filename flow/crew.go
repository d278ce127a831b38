package flow

import (
	"context"
	"errors"
	"sync"
)

// crew is one run of a stage with several workers. Three kinds of goroutines share it: one reads the stage before
// (read.go), up to Concurrency hands work (hand.go), and the one who reads the stage yields the results (deliver.go).
// Everything is guarded by mu.
//
// Two rules keep it fast without holding anything back. A hand delivers a result and takes its next item under one
// lock. And where several wait for the same, one is woken at a time: it passes the word on if there is more to do.
type crew[In, Out any] struct {
	o      Options
	work   func(h *hand[In, Out], item In) piece[Out]
	keys   keeper[In] // nil: every item may be worked on at any time
	of     *client
	window int  // items that are under way at most
	single bool // an item is under way until its one result was taken; else until its stream has ended

	ctx    context.Context // the reader's and the hands'
	cancel context.CancelCauseFunc
	unread context.CancelCauseFunc // ends the stage before
	ended  sync.WaitGroup

	mu     sync.Mutex
	room   sync.Cond // the one who reads the stage before waits for room
	job    sync.Cond // hands wait for items
	result sync.Cond // the one who yields waits for results

	jobs     ring[job[In]]
	next     uint64 // number of the next item
	underWay int
	reading  bool // the stage before has not ended
	stopped  bool

	hands   []*hand[In, Out]
	alive   int // hands that have not ended
	idle    int // of those, the ones that wait and were not woken
	waking  bool
	blocked bool // the one who reads the stage before waits
	hungry  bool // the one who yields waits

	failed   bool
	failedAt uint64 // the first item that failed; where Ordered is set, those before it go on

	merged ring[piece[Out]] // results as they came
	cells  ring[cell[Out]]  // where Ordered is set instead: one an item under way
	head   uint64           // number of the first cell
}

// job is an item and its number.
type job[In any] struct {
	seq  uint64
	item In
}

// piece is a result on its way.
type piece[Out any] struct {
	value Out
	err   error
	from  *outlet // of whoever wants to know that it was taken
	none  bool    // there is neither value nor error: the work has ended without
}

// outlet bounds how many pieces of a hand wait to be taken.
type outlet struct {
	room  sync.Cond
	n     int
	waits bool // the hand waits for room
}

// cell holds the results of one item.
type cell[Out any] struct {
	pieces ring[piece[Out]]
	done   bool
}

// keeper lets only so many items of a key be worked on at once. It is called with the crew's lock held.
type keeper[In any] interface {
	// enter says whether the item may be worked on now; if not it is kept.
	enter(j job[In]) bool
	// leave says that an item was worked on, and returns one that was kept and may be worked on now.
	leave(item In) (job[In], bool)
}

var errEnough = errors.New("flow: the reader has had enough") // the cause of contexts that end for no other reason

func newCrew[In, Out any](o Options, work func(*hand[In, Out], In) piece[Out]) *crew[In, Out] {
	c := &crew[In, Out]{o: o, work: work, of: new(client), window: o.Concurrency, reading: true}
	c.room.L, c.job.L, c.result.L = &c.mu, &c.mu, &c.mu
	return c
}

// run works until everything is yielded, the reader has had enough or something fails. When it returns, every goroutine
// has ended.
func (c *crew[In, Out]) run(ctx context.Context, in Stream[In], yield func(Out, error) bool) error {
	p := placeOf(ctx)
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	told := make(chan struct{})
	untell := context.AfterFunc(ctx, func() {
		defer close(told)
		c.stop(context.Cause(ctx))
	})
	ended := false
	end := func() {
		if ended {
			return
		}
		ended = true
		if !untell() {
			<-told
		}
		c.stop(errEnough)
		if p.busy() {
			p.park()
			defer func() { _ = p.unpark(ctx) }() // without a worker if ctx has ended: there is little left to do
		}
		c.ended.Wait()
	}
	defer end()

	before, unread := context.WithCancelCause(c.ctx)
	c.unread = unread
	c.ended.Add(1)
	go c.read(before, in)
	for {
		r, ok := c.take(ctx, p)
		switch {
		case !ok:
			end()
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return nil
		case r.err != nil && !c.o.KeepGoing:
			end()
			if cause := context.Cause(ctx); cause != nil && errors.Is(r.err, ctx.Err()) {
				return cause
			}
			return r.err
		case !yield(r.value, r.err):
			return nil
		}
	}
}

// stop ends all work: whoever waits is woken, and what works learns it from its context.
func (c *crew[In, Out]) stop(cause error) {
	c.cancel(cause)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	c.wakeAll()
}

func (c *crew[In, Out]) wakeAll() {
	c.room.Broadcast()
	c.job.Broadcast()
	c.result.Broadcast()
	for _, h := range c.hands {
		h.out.room.Broadcast()
	}
}

// fail notes that an item failed and cancels what comes after it, or everything else where the order does not matter.
// The lock is held.
func (c *crew[In, Out]) fail(seq uint64, err error) {
	if c.failed && (!c.o.Ordered || seq >= c.failedAt) {
		return
	}
	c.failed, c.failedAt = true, seq
	c.unread(err)
	if c.o.Ordered {
		for _, h := range c.hands {
			if h.busy && h.seq > seq {
				h.cancel(err)
			}
		}
	} else {
		c.cancel(err)
	}
	c.wakeAll()
}

// vain says whether work on an item has become useless.
func (c *crew[In, Out]) vain(seq uint64) bool {
	return c.stopped || c.failed && (!c.o.Ordered || seq > c.failedAt)
}
