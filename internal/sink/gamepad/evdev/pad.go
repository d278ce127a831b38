package evdev

import (
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
)

// Change is what a pad has from a time on.
type Change struct {
	At    time.Duration // on the device's clock, which is CLOCK_MONOTONIC
	State macro.State   // sticks and triggers as far as they go
	Keys  macro.State   // of a trigger, whether its button is down; the rest is State's
}

// Digital is the change with the left stick as directions and everything else either pressed or let go: what a stick
// or trigger has moved by less than dead, from 1 to 99, is nothing. A direction of the stick gives way to the pad's.
func (c *Change) Digital(dead int) macro.State {
	s := c.State
	for _, way := range [2]struct{ stick, less, more macro.Input }{
		{macro.LX, macro.Left, macro.Right}, {macro.LY, macro.Up, macro.Down},
	} {
		v := int(s[way.stick])
		s[way.stick] = 0
		switch {
		case s[way.less] != 0 || s[way.more] != 0:
		case v <= -dead:
			s[way.less] = pressed
		case v >= dead:
			s[way.more] = pressed
		}
	}
	for _, in := range [4]macro.Input{macro.RX, macro.RY, macro.L2, macro.R2} {
		switch v := int(s[in]); {
		case v >= dead || c.Keys[in] != 0:
			s[in] = pressed
		case v <= -dead:
			s[in] = -pressed
		default:
			s[in] = 0
		}
	}
	return s
}

const pressed = 100

// pad follows the events of a pad.
type pad struct {
	layout
	down    map[uint16]bool  // by button
	moved   map[uint16]int32 // by axis
	last    Change
	dropped bool // the kernel has left events out: nothing is known before the end of the report
}

func newPad(l layout) *pad {
	p := &pad{layout: l, down: map[uint16]bool{}, moved: map[uint16]int32{}}
	for k, a := range l.axes {
		p.moved[k] = a.now
	}
	p.last = p.now(0)
	return p
}

// take looks at an event. whole tells that a report has ended which changed something: then last has it. lost tells
// that events are missing, so that the device has to be asked what it has.
func (p *pad) take(e event) (whole, lost bool) {
	switch e.kind {
	case evKey:
		if _, ok := p.buttons[e.code]; ok && !p.dropped {
			p.down[e.code] = e.value != 0
		}
	case evAbs:
		if _, ok := p.axes[e.code]; ok && !p.dropped {
			p.moved[e.code] = e.value
		}
	case evSyn:
		switch e.code {
		case synDropped:
			p.dropped = true
		case synReport:
			lost, p.dropped = p.dropped, false
			return p.report(e.at), lost
		}
	}
	return false, false
}

// report makes last what the pad has, and tells whether that is something else.
func (p *pad) report(at time.Duration) bool {
	c := p.now(at)
	if c.State == p.last.State && c.Keys == p.last.Keys {
		return false
	}
	p.last = c
	return true
}

func (p *pad) now(at time.Duration) Change {
	c := Change{At: at}
	for k, in := range p.buttons {
		if p.down[k] {
			c.State[in] = pressed
		}
	}
	c.Keys = c.State
	for k, a := range p.axes {
		v := p.moved[k]
		switch a.input {
		case macro.Left, macro.Up: // the other arm of each follows it
			hat(&c.State, a, v)
		case macro.L2, macro.R2:
			c.State[a.input] = int8(a.fraction(v) * pressed)
		default:
			c.State[a.input] = a.way(v)
		}
	}
	for _, arms := range [2][2]macro.Input{{macro.Left, macro.Right}, {macro.Up, macro.Down}} {
		if c.State[arms[0]] != 0 && c.State[arms[1]] != 0 {
			c.State[arms[0]], c.State[arms[1]] = 0, 0
		}
	}
	return c
}

// hat presses the arm that a direction pad's axis points to.
func hat(s *macro.State, a axis, v int32) {
	middle := (int64(a.least) + int64(a.most)) / 2
	switch {
	case int64(v) < middle:
		s[a.input] = pressed
	case int64(v) > middle:
		s[a.input+1] = pressed
	}
}
