package page

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/pace"
)

// maxHolds are pads that are pressed at the same time, and those of each that were not played yet.
const maxHolds = 16

// leastHold is how long a pad is pressed at least: two frames of a console, and one that may be late.
const leastHold = 50 * time.Millisecond

var errHeld = errors.New("pads are being pressed: let go of them first")

// hold is what somebody presses on a pad, until it is let go of.
type hold struct {
	key    string // the hand: one pad of one page. What it presses next comes after this, and not beside it
	player int
	state  macro.State
	ended  bool          // it was let go of, or its hand presses something else
	done   chan struct{} // closed when nothing is pressed by it any more
	err    error         // why; set before done is closed
}

// hands are all that is held. What all of them press together is played as one script, which is stopped and begun
// anew when that changes: a run cannot be changed while it is played. The stage's mutex guards them.
type hands struct {
	holds   []*hold
	playing []*hold     // those that the run under way presses; nil: it is none of hands
	began   time.Time   // when the run's frame 0 was due; zero: it has not begun
	soon    *time.Timer // looks again when the run has lasted long enough
}

// pressing is what players press.
type pressing struct {
	state  [macro.Players]macro.State
	active [macro.Players]bool
}

// first are the holds that are to be pressed now: of each hand the one that came first.
func (h *hands) first() (all []*hold) {
	for _, one := range h.holds {
		if !slices.ContainsFunc(all, func(o *hold) bool { return o.key == one.key }) {
			all = append(all, one)
		}
	}
	return all
}

// together is what some holds press. Opposite directions are none, as on a pad.
func together(all []*hold) (p pressing) {
	for _, h := range all {
		p.active[h.player-1] = true
		state := &p.state[h.player-1]
		for in, value := range h.state {
			if value != 0 {
				state[in] = value
			}
		}
	}
	for i := range p.state {
		s := &p.state[i]
		for _, arms := range [2][2]macro.Input{{macro.Up, macro.Down}, {macro.Left, macro.Right}} {
			if s[arms[0]] != 0 && s[arms[1]] != 0 {
				s[arms[0]], s[arms[1]] = 0, 0
			}
		}
	}
	return p
}

// script presses it for so many frames.
func (p *pressing) script(frames uint32) *macro.Script {
	s := new(macro.Script)
	for i := range p.state {
		if p.active[i] {
			s.Tracks[i] = []macro.Step{{Frames: frames, State: p.state[i]}}
		}
	}
	return s
}

func (p *pressing) text() string {
	var all []string
	for i := range p.state {
		if p.active[i] {
			who := ""
			if i > 0 {
				who = "P2 "
			}
			all = append(all, who+p.state[i].String())
		}
	}
	return strings.Join(all, ", ")
}

// leave forgets a hold.
func (h *hands) leave(one *hold, err error) {
	if i := slices.Index(h.holds, one); i >= 0 {
		h.holds = slices.Delete(h.holds, i, i+1)
		one.err = err
		close(one.done)
	}
}

// hold presses something until letGo, or until stop.
func (s *stage) hold(key string, player int, state macro.State) (*hold, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ctx.Err() != nil:
		return nil, errClosed
	case len(s.waiting) > 0 || s.now.Playing && s.hands.playing == nil:
		return nil, errBusy
	case len(s.hands.holds) >= maxHolds:
		return nil, errFull
	}
	for _, before := range s.hands.holds {
		before.ended = before.ended || before.key == key
	}
	h := &hold{key: key, player: player, state: state, done: make(chan struct{})}
	s.hands.holds = append(s.hands.holds, h)
	s.look()
	return h, nil
}

// letGo ends a hold, when it has been pressed as long as a press lasts at least.
func (s *stage) letGo(h *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.ended = true
	s.look()
}

// look stops the run of the hands if it does not press what they press now, or wakes the one who plays; s.mu is held.
func (s *stage) look() {
	h := &s.hands
	if h.playing == nil {
		if len(h.holds) > 0 {
			s.rouse()
		}
		return
	}
	if h.began.IsZero() || s.run == nil {
		return // it is looked again when it has begun
	}
	if left := leastHold - time.Since(h.began); left > 0 {
		if h.soon == nil {
			h.soon = time.AfterFunc(left, func() {
				s.set(func() {
					h.soon = nil
					s.look()
				})
			})
		}
		return
	}
	h.serve()
	if !slices.Equal(h.first(), h.playing) {
		s.run.Stop()
	}
}

// serve lets those of the run's holds go that have ended.
func (h *hands) serve() {
	for _, one := range h.playing {
		if one.ended {
			h.leave(one, nil)
		}
	}
}

// takeHands makes a turn of what is held; s.mu is held.
func (s *stage) takeHands() turn {
	h := &s.hands
	h.playing = h.first()
	all := together(h.playing)
	h.began = time.Time{}
	s.now.Number++
	frames := s.config.Rate.Frame(s.config.Hold+leastHold) + 1
	if !slices.ContainsFunc(h.playing, func(one *hold) bool { return !one.ended }) {
		frames = pressFrames // all were let go of already
	}
	script := all.script(uint32(min(frames, macro.MaxFrames)))
	return turn{number: s.now.Number, text: all.text(), script: script, hands: true}
}

// handsEnded settles the holds of a run that has ended; s.mu is held.
func (s *stage) handsEnded(d *done, report *pace.Report, err error) {
	h := &s.hands
	if h.soon != nil {
		h.soon.Stop()
		h.soon = nil
	}
	for _, one := range h.playing {
		switch {
		case err != nil:
			h.leave(one, err)
		case !report.Stopped: // all frames were played
			h.leave(one, nil)
		}
	}
	if err == nil {
		h.serve()
	}
	h.playing = nil
	if s.stopped < d.Number {
		d.Stopped = false // it was stopped because what is held changed
	}
}

// dropHands lets go of everything; s.mu is held.
func (s *stage) dropHands() {
	for len(s.hands.holds) > 0 {
		s.hands.leave(s.hands.holds[0], nil)
	}
}
