package pace

import (
	"slices"
	"sync/atomic"
	"time"
)

// sleeper is how a system lets a thread sleep. All but nudge belong to one goroutine.
type sleeper interface {
	sleep(t int64) // returns at t on the clock that begins at its making, or somewhat later; at once, or earlier, when nudged
	nudge()        // from any goroutine
	calm()         // forgets a nudge
	keepPlace()    // from now on the process is alone: its threads are only pushed aside by each other
	method() string
	close() error
}

// The spin's bounds.
const (
	leastSpin = int64(15 * time.Microsecond)
	spinShare = 25 // of the time between two frames at most one in so many is spent on it: 4 % of a processor
	trials    = 24 // sleeps to calibrate with

	rise = int64(20 * time.Microsecond) // the most by which a waking that is later than expected raises what is expected
	fall = rise / 200                   // by which every other lowers it: so that one in two hundred is later, whatever the others are
)

// spinner sleeps until shortly before a moment and looks at the clock until it is there: systems wake threads late, by a time that can be learnt.
type spinner struct {
	sleeper sleeper
	base    time.Time
	most    int64 // the longest spin
	usual   int64 // how late it wakes; few times in a thousand it is later
	woken   atomic.Bool
}

// newSpinner takes over s, whose clock begins at base.
func newSpinner(s sleeper, base time.Time, r Rate) *spinner {
	return &spinner{sleeper: s, base: base, most: max(leastSpin, int64(r.Interval())/spinShare)}
}

func (s *spinner) now() int64     { return int64(time.Since(s.base)) }
func (s *spinner) method() string { return s.sleeper.method() }
func (s *spinner) close() error   { return s.sleeper.close() }

func (s *spinner) nudge() {
	s.woken.Store(true)
	s.sleeper.nudge()
}

// spin is the usual lateness, and a little.
func (s *spinner) spin() int64 { return min(s.most, s.usual+leastSpin) }

func (s *spinner) until(t int64) {
	for {
		if s.woken.Swap(false) {
			s.sleeper.calm()
			return
		}
		wake := t - s.spin()
		now := s.now()
		if now >= wake {
			break
		}
		s.sleeper.sleep(wake)
		if late := s.now() - wake; late >= 0 {
			s.learn(late)
		} else {
			s.sleeper.calm() // nudged, which the loop sees; or for an old nudge or a signal, and then it sleeps on
		}
	}
	for s.now() < t && !s.woken.Load() {
	}
}

func (s *spinner) learn(late int64) {
	if late > s.usual {
		s.usual = min(late, s.usual+rise, s.most)
	} else {
		s.usual = max(0, s.usual-fall)
	}
}

// calibrate begins with what most of a few sleeps took.
func (s *spinner) calibrate() error {
	var lates [trials]int64
	for i := range lates {
		t := s.now() + int64(400*time.Microsecond)
		s.sleeper.sleep(t)
		lates[i] = s.now() - t
	}
	slices.Sort(lates[:])
	s.usual = min(s.most, max(0, lates[trials*9/10]))
	return nil
}
