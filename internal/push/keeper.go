package push

import (
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/push/wire"
)

const (
	stallAfter = 100 * time.Millisecond // a write that takes longer counts as a line that is not free
	farAway    = time.Hour              // the keeper looks at least so often

	// A keeper that looks so late was kept from it: the process or its machine was frozen, or has no processor time.
	// Answers that came meanwhile lie in the sockets. Before anything ends for want of them they are read, so long.
	freeze  = 100 * time.Millisecond
	catchUp = time.Second
	// A freeze may follow the other, but deadlines shall hold where one always does.
	mostFreezes = 4
)

// keep is the goroutine that looks after deadlines, silence and age, begins connections whose time has come, and tells
// events.
func (c *Client) keep() {
	timer := time.NewTimer(farAway)
	defer timer.Stop()
	var out answers
	var events []Event
	var spared time.Duration // until when no request that was sent ends, and no connection
	freezes := 0             // since it last looked
	sleeps := farAway        // until when it meant to sleep
	for {
		c.mu.Lock()
		now := c.tickNow()
		if c.pokedAt != 0 {
			sleeps = min(sleeps, c.pokedAt)
		}
		if now-sleeps >= freeze && freezes < mostFreezes {
			spared = now + catchUp
			freezes++
		}
		c.pokedAt = 0
		c.keeperAt, c.looking = now+farAway, true
		looked := now >= spared
		c.wheel.expire(now, func(call *Call) {
			if call.state == given && !looked {
				c.wheel.add(call, tickOf(spared))
			} else {
				c.expire(call, &out)
			}
		})
		if looked {
			freezes = 0
			c.look(now)
		}
		c.kick()
		if at, ok := c.wheel.next(); ok {
			c.keeperAt = min(c.keeperAt, at)
		}
		if !looked { // what is due before was left alone
			c.keeperAt = spared
		}
		out.list = append(out.list, c.rejected...)
		clear(c.rejected)
		c.rejected = c.rejected[:0]
		events = append(events, c.events...)
		clear(c.events)
		c.events = c.events[:0]
		idle := len(out.list) == 0 && len(events) == 0
		ending, at := c.ending, c.keeperAt
		c.looking = false
		c.mu.Unlock()

		for _, e := range events {
			c.config.OnEvent(e)
		}
		clear(events)
		events = events[:0]
		out.give(c)
		sleeps = max(at, now)
		if !idle {
			continue // these took time, and may have brought more
		}
		if ending {
			return
		}
		timer.Reset(at - c.now())
		select {
		case <-timer.C:
		case <-c.poked:
		}
	}
}

// poke lets the keeper look at once. Under the mutex.
func (c *Client) poke() {
	if c.pokedAt == 0 {
		c.pokedAt = c.now()
	}
	select {
	case c.poked <- struct{}{}:
	default:
	}
}

// due lets the keeper look at that time, at the latest. Under the mutex.
func (c *Client) due(at time.Duration) {
	if at < c.keeperAt {
		c.keeperAt = at
		if !c.looking {
			c.poke()
		}
	}
}

// expire ends a call whose deadline has passed.
func (c *Client) expire(call *Call, out *answers) {
	why := ErrDeadline
	if call.state == waiting && len(c.open) == 0 && c.lastFailure != nil {
		why = fmt.Errorf("%w: there is no connection: %w", ErrDeadline, c.lastFailure)
	}
	c.count.Expired++
	c.abandon(call, why, out)
}

// look looks at each connection.
func (c *Client) look(now time.Duration) {
	for _, k := range append(append([]*conn(nil), c.open...), c.leaving...) {
		c.lookAt(k, now)
	}
}

func (c *Client) lookAt(k *conn, now time.Duration) {
	if k.resting {
		if now >= k.restTill {
			k.resting = false
		} else {
			c.due(k.restTill)
		}
	}
	if k.writing {
		switch age := now - k.since; {
		case age >= c.config.WriteTimeout:
			_ = k.raw.SetWriteDeadline(time.Unix(1, 0)) // the write fails; a closed socket fails by itself
		case age >= stallAfter:
			k.stalled = true
			c.due(k.since + c.config.WriteTimeout)
		default:
			c.due(k.since + stallAfter)
		}
	}
	if k.single {
		// it has no PING: the deadline of the request bounds its silence
	} else if k.pinged != 0 {
		if dead := max(k.pinged, k.heard) + c.config.PingTimeout; now >= dead {
			k.end(errSilent, silent)
			return
		} else {
			c.due(dead)
		}
	} else if ask := k.heard + k.patience(); now >= ask {
		k.pinged = now
		k.say(func(b []byte) []byte { return wire.AppendFrame(b, wire.TypePing, 0, 0, []byte("are you?")) })
		c.due(now + c.config.PingTimeout)
	} else {
		c.due(ask)
	}
	if k.goodbye || k.dead != nil {
		return
	}
	if idle := k.idle(); idle > 0 && len(k.streams) == 0 && c.waiting() == 0 {
		if now >= k.used+idle {
			k.retire(errIdle)
			return
		}
		c.due(k.used + idle)
	}
	if k.age > 0 && now >= k.age {
		k.aged = true
	} else if k.age > 0 {
		c.due(k.age)
	}
}

// patience is how long a far end may be silent. Silence is no wonder while it has nothing to answer.
func (k *conn) patience() time.Duration {
	if len(k.streams) == 0 {
		return 4 * k.c.config.PingAfter
	}
	return k.c.config.PingAfter
}

// kick lets the line move: it wakes writers, or begins a connection if the streams of the present ones are not enough.
// Under the mutex.
func (c *Client) kick() {
	if c.shunning > 0 {
		c.lookElsewhere()
	}
	more := c.line.n
	if more == 0 && !c.wantsNew() {
		return
	}
	for more > 0 {
		var best *conn
		for _, k := range c.open {
			if k.parked && k.takes(c.line.first) && (best == nil || better(k, best)) {
				best = k
			}
		}
		if best == nil {
			break
		}
		more -= best.free()
		best.rouse()
	}
	if more <= 0 && !c.wantsNew() {
		return
	}
	for _, k := range c.open {
		if k.parked {
			continue
		}
		if k.writing && !k.stalled {
			c.due(k.since + stallAfter)
		}
		more -= k.free() // it looks at the line when it has written
	}
	if c.wantsNew() || more > 0 && !c.onTrial() {
		c.dial()
	}
}

// better tells whether a is to be preferred.
func better(a, b *conn) bool {
	if a.aged != b.aged {
		return b.aged
	}
	return a.free() > b.free()
}

// wantsNew tells whether an old connection waits for its successor.
func (c *Client) wantsNew() bool {
	for _, k := range c.open {
		if k.aged {
			return true
		}
	}
	return false
}

// onTrial tells whether a new connection's first answer is awaited, which is likely to bring more streams than the line
// needs.
func (c *Client) onTrial() bool {
	for _, k := range c.open {
		if k.onTrial() {
			c.due(k.trialTill)
			return true
		}
	}
	return false
}

// dial begins a connection, if there may be one more and its time has come, and tells whether it did. Under the mutex.
func (c *Client) dial() bool {
	if c.dialing || c.closing && c.ctx.Err() != nil {
		return false
	}
	n := 0
	for _, k := range c.open {
		if !k.aged {
			n++
		}
	}
	if n >= c.config.MaxConnections {
		return false
	}
	now := c.tickNow()
	if at := c.budget.wait(now); at > now {
		c.due(at)
		return false
	}
	c.budget.spend(now)
	c.dialing, c.dialTill = true, now+c.config.trial()
	c.dials++
	c.count.Dials++
	k := newConn(c, c.dials)
	c.tell(Event{Kind: Dialing, Connection: k.number})
	c.conns.Go(func() { c.serve(k) })
	return true
}
