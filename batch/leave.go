package batch

import "time"

// due says whether the group at the front leaves if a handler is free, and why.
func (g *Grouper[T]) due() reason {
	c := &g.config
	switch {
	case g.queue.n == 0:
		return stays
	case g.queue.n >= c.MaxCount:
		return count
	case c.MaxBytes > 0 && g.queued >= c.MaxBytes:
		// Either the group has exactly as much as it may, or an item follows that does not fit into it.
		return bytes
	case c.Delay == 0 && !g.closed:
		return ready
	case g.closed:
		return closing
	case g.pressed && g.queue.n >= c.Pending:
		return count
	case g.pressed:
		return bytes
	case g.taken < g.flushTo:
		return flush
	case time.Since(g.began) >= g.queue.front().at+c.Delay:
		return delay
	}
	return stays
}

// wake lets one idle handler look at the queue, if there is something for it. A handler that takes a group passes the
// word on, so one at a time is enough, and items that arrive before it runs find their way into its group.
func (g *Grouper[T]) wake() {
	if g.idle > 0 && !g.waking && g.due() != stays {
		g.idle--
		g.waking = true
		g.work.Signal()
	}
}

// arm sets the timer for the item at the front. The timer is never moved: items leave in order, so it can only be too
// early, and then it is set again.
func (g *Grouper[T]) arm() {
	if g.closed {
		return
	}
	g.armed = true
	d := g.queue.front().at + g.config.Delay - time.Since(g.began)
	if g.timer == nil {
		g.timer = time.AfterFunc(d, g.tick)
		return
	}
	g.timer.Reset(d)
}

// tick is what the timer calls.
func (g *Grouper[T]) tick() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.armed = false
	if g.queue.n == 0 {
		return
	}
	if g.due() == stays {
		g.arm()
		return
	}
	g.wake()
}
