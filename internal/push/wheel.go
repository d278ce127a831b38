package push

import (
	"math/bits"
	"time"
)

const (
	tickLen    = 1 << 24 // ns, about 17 ms: how late a deadline may be noticed
	wheelSlots = 1024
)

// wheel holds the deadlines of all calls: entering and leaving cost the same however many there are. A slot holds the
// calls of one tick, and of those that come one or several turns later.
type wheel struct {
	slots  [wheelSlots]*Call
	filled [wheelSlots / 64]uint64
	done   int64 // ticks up to this one are dealt with
	n      int
}

// tickOf is the first tick at whose start d has passed.
func tickOf(d time.Duration) int64 { return (int64(d) + tickLen - 1) / tickLen }

// late tells whether the deadline of a call has passed.
func (call *Call) late(now time.Duration) bool {
	return call.tick >= 0 && call.tick <= int64(now)/tickLen
}

func (w *wheel) add(c *Call, tick int64) {
	c.tick = max(tick, w.done+1)
	at := c.tick % wheelSlots
	c.left, c.right = nil, w.slots[at]
	if c.right != nil {
		c.right.left = c
	}
	w.slots[at] = c
	w.filled[at/64] |= 1 << (at % 64)
	w.n++
}

// remove takes a call out, if it is in.
func (w *wheel) remove(c *Call) {
	if c.tick < 0 {
		return
	}
	at := c.tick % wheelSlots
	if c.left != nil {
		c.left.right = c.right
	} else {
		w.slots[at] = c.right
		if c.right == nil {
			w.filled[at/64] &^= 1 << (at % 64)
		}
	}
	if c.right != nil {
		c.right.left = c.left
	}
	c.left, c.right, c.tick = nil, nil, -1
	w.n--
}

// expire takes out the calls whose deadline has passed, and gives them to f.
func (w *wheel) expire(now time.Duration, f func(*Call)) {
	to := int64(now) / tickLen
	from := w.done + 1
	if to-from >= wheelSlots {
		from = to - wheelSlots + 1 // each slot once
	}
	for t := from; t <= to; t++ {
		at := t % wheelSlots
		if w.filled[at/64]&(1<<(at%64)) == 0 {
			continue
		}
		for c := w.slots[at]; c != nil; {
			next := c.right
			if c.tick <= to {
				w.remove(c)
				f(c)
			}
			c = next
		}
	}
	w.done = max(w.done, to)
}

// next is when to look again, at the latest.
func (w *wheel) next() (time.Duration, bool) {
	if w.n == 0 {
		return 0, false
	}
	start := (w.done + 1) % wheelSlots
	for i := range int64(wheelSlots/64 + 1) {
		word := (start/64 + i) % (wheelSlots / 64)
		b := w.filled[word]
		if i == 0 {
			b &= ^uint64(0) << (start % 64)
		}
		if b == 0 {
			continue
		}
		at := word*64 + int64(bits.TrailingZeros64(b))
		return time.Duration((w.done + 1 + (at-start+wheelSlots)%wheelSlots) * tickLen), true
	}
	return 0, false
}
