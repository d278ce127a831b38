package pass

import (
	"math"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/evdev"
	"github.com/hikyaku/hikyaku/pace"
)

// Macro is what a button of the player's pad plays.
type Macro struct {
	Button macro.Input
	Name   string       // for people
	Steps  []macro.Step // of one player; at least one
}

// Mixer makes of a player's input and a macro what the virtual pad has. It knows no clock: all times are the caller's,
// on one that does not go back. It is used by one goroutine and allocates nothing once it is made.
type Mixer struct {
	rate    pace.Rate
	macros  []Macro
	owned   [][macro.Inputs]bool // by macro: the inputs that are its own while it is played
	buttons [macro.Inputs]bool   // those that begin macros: the game never sees them

	player  evdev.Change
	running int           // of macros; -1: none
	began   time.Duration // when frame 0 of it was
	step    int           // the one that is played
	due     int64         // the frame with which it ends
	ended   time.Duration // when that frame is
}

// NewMixer makes one. No two macros have the same button.
func NewMixer(rate pace.Rate, macros []Macro) *Mixer {
	m := &Mixer{rate: rate, macros: macros, running: none, owned: make([][macro.Inputs]bool, len(macros))}
	for i, a := range macros {
		m.buttons[a.Button] = true
		m.owned[i] = owned(a.Steps)
	}
	return m
}

const none = -1

// directions are together: who moves one of them owns them all.
var directions = [...]macro.Input{macro.Up, macro.Down, macro.Left, macro.Right, macro.LX, macro.LY}

// owned are the inputs that a macro touches anywhere.
func owned(steps []macro.Step) (all [macro.Inputs]bool) {
	for _, s := range steps {
		for in, v := range s.State {
			all[in] = all[in] || v != 0
		}
	}
	for _, in := range directions {
		if all[in] {
			for _, d := range directions {
				all[d] = true
			}
		}
	}
	return all
}

// Input takes a change of the player's pad. A button that begins a macro does so from now on, in place of one that is
// played; once more while its own is played, it ends that.
func (m *Mixer) Input(c *evdev.Change, now time.Duration) {
	before := m.player
	m.player = *c
	for i := range m.macros {
		in := m.macros[i].Button
		if !down(c, in) || down(&before, in) {
			continue
		}
		if m.running == i {
			m.running = none
			continue
		}
		m.running, m.began, m.step = i, now, 0
		m.due = int64(m.macros[i].Steps[0].Frames)
		m.ended = m.began + m.rate.Deadline(m.due)
	}
}

// down tells whether a button is down; a trigger is from the half of its way on.
func down(c *evdev.Change, in macro.Input) bool { return c.State[in] >= 50 || c.Keys[in] != 0 }

// Tick goes on with the macro to what it presses now.
func (m *Mixer) Tick(now time.Duration) {
	for m.running != none && now >= m.ended {
		steps := m.macros[m.running].Steps
		if m.step++; m.step == len(steps) {
			m.running = none
			return
		}
		m.due += int64(steps[m.step].Frames)
		m.ended = m.began + m.rate.Deadline(m.due)
	}
}

// Next is when Tick changes something by itself; a time that never comes when no macro is played.
func (m *Mixer) Next() time.Duration {
	if m.running == none {
		return math.MaxInt64
	}
	return m.ended
}

// State is what the virtual pad is to have.
func (m *Mixer) State() macro.State {
	s := m.player.State
	for in := range s {
		if m.buttons[in] {
			s[in] = 0
		}
	}
	if m.running == none {
		return s
	}
	mine := &m.macros[m.running].Steps[m.step].State
	for in, is := range m.owned[m.running] {
		if is {
			s[in] = mine[in]
		}
	}
	return s
}
