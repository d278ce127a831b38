package flow

import "context"

// deliver puts a result where the one who yields will find it. The lock is held.
func (c *crew[In, Out]) deliver(seq uint64, r piece[Out]) {
	if c.vain(seq) {
		return
	}
	if c.o.Ordered {
		c.cells.at(int(seq - c.head)).pieces.push(r)
	} else {
		c.merged.push(r)
	}
	if !c.o.Ordered || seq == c.head {
		c.wakeTaker()
	}
	if r.err != nil && !c.o.KeepGoing {
		c.fail(seq, r.err)
	}
}

// done says that an item has no more results. The lock is held.
func (c *crew[In, Out]) done(seq uint64) {
	switch {
	case c.vain(seq):
		return
	case c.o.Ordered:
		c.cells.at(int(seq - c.head)).done = true
		if seq == c.head {
			c.wakeTaker()
		}
	case !c.single:
		c.leave()
		if c.finished() {
			c.wakeTaker()
		}
	}
}

// leave counts one item less under way.
func (c *crew[In, Out]) leave() {
	c.underWay--
	c.wakeSource()
}

func (c *crew[In, Out]) finished() bool { return !c.reading && c.underWay == 0 && c.merged.n == 0 }

func (c *crew[In, Out]) wakeTaker() {
	if c.hungry {
		c.hungry = false
		c.result.Signal()
	}
}

// take waits for the next result; false: there is none any more.
func (c *crew[In, Out]) take(ctx context.Context, p *place) (piece[Out], bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.stopped {
		if r, ok := c.pop(); ok {
			return r, true
		}
		if c.finished() {
			break
		}
		c.await(ctx, p, &c.result, &c.hungry, func() bool { return c.stopped || c.finished() || c.has() })
	}
	return piece[Out]{}, false
}

// has says whether there is something for pop.
func (c *crew[In, Out]) has() bool {
	if !c.o.Ordered {
		return c.merged.n > 0
	}
	return c.cells.n > 0 && (c.cells.at(0).done || c.cells.at(0).pieces.n > 0)
}

// pop takes the next result, if there is one.
func (c *crew[In, Out]) pop() (r piece[Out], ok bool) {
	if !c.o.Ordered {
		if c.merged.n == 0 {
			return r, false
		}
		r = c.merged.pop()
		c.taken(r)
		if c.single {
			c.leave()
		}
		return r, true
	}
	for c.cells.n > 0 {
		front := c.cells.at(0)
		if front.pieces.n > 0 {
			r, ok = front.pieces.pop(), true
			c.taken(r)
		}
		if front.done && front.pieces.n == 0 {
			c.cells.drop()
			c.head++
			c.leave()
		} else if !ok {
			return r, false
		}
		if ok {
			return r, true
		}
	}
	return r, false
}

// taken makes room at the hand that delivered r.
func (c *crew[In, Out]) taken(r piece[Out]) {
	if r.from == nil {
		return
	}
	r.from.n--
	if r.from.waits {
		r.from.waits = false
		r.from.room.Signal()
	}
}
