package flow

import "context"

// read runs the stage before and takes its items in, as many as may be under way.
func (c *crew[In, Out]) read(ctx context.Context, in Stream[In]) {
	defer c.ended.Done()
	ctx, p := newPlace(ctx, &place{name: "goroutine", of: new(client), demand: c.window})
	err := ErrExited
	defer func() { c.close(err) }()
	err = each(ctx, in, func(item In, err error) bool { return c.admit(ctx, p, item, err) })
}

// admit waits for room and takes an item in; false: no more are wanted.
func (c *crew[In, Out]) admit(ctx context.Context, p *place, item In, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.underWay >= c.window && !c.refuses() {
		c.await(ctx, p, &c.room, &c.blocked, func() bool { return c.underWay < c.window || c.refuses() })
	}
	if c.refuses() {
		return false
	}
	j := job[In]{c.enlist(), item}
	switch {
	case err != nil:
		c.deliver(j.seq, piece[Out]{err: err})
		c.done(j.seq)
	case c.keys == nil || c.keys.enter(j):
		c.jobs.push(j)
		c.wakeHand()
	}
	return !c.refuses()
}

// enlist counts one more item under way and returns its number.
func (c *crew[In, Out]) enlist() uint64 {
	seq := c.next
	c.next++
	c.underWay++
	if c.o.Ordered {
		c.cells.extend().done = false
	}
	return seq
}

// refuses says whether no more items are wanted.
func (c *crew[In, Out]) refuses() bool { return c.stopped || c.failed }

// close says that the stage before has ended, and how.
func (c *crew[In, Out]) close(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && !c.refuses() {
		seq := c.enlist() // one more than the window: nothing comes after it
		c.deliver(seq, piece[Out]{err: err})
		c.done(seq)
	}
	c.reading = false
	c.wakeTaker()
}

// await lets a goroutine wait for cond until it is so, without a worker. The lock is held, but while it waits; flag
// tells that it does.
func (c *crew[In, Out]) await(ctx context.Context, p *place, cond interface{ Wait() }, flag *bool, so func() bool) {
	busy := p.busy()
	if busy {
		c.mu.Unlock()
		p.park()
		c.mu.Lock()
	}
	for !so() {
		*flag = true
		cond.Wait()
	}
	*flag = false
	if busy {
		c.mu.Unlock()
		_ = p.unpark(ctx) // without a worker if ctx has ended: then the work is over
		c.mu.Lock()
	}
}

// wakeSource lets the one who reads the stage before go on if there is room, and if the hands are about to have nothing
// to do: to wake it for each item would cost more than most items do.
func (c *crew[In, Out]) wakeSource() {
	if c.blocked && c.underWay < c.window && c.jobs.n <= c.o.Concurrency {
		c.blocked = false
		c.room.Signal()
	}
}
