package pace

import (
	"slices"
	"sync/atomic"
	"time"
)

// sleeper is how a system lets a thread sleep. All but nudge belong to one goroutine.
type sleeper interface {
	// returns at t on the clock that begins at its making, or somewhat later; at once, or earlier, when nudged
	sleep(t int64)
	nudge()     // from any goroutine
	calm()      // forgets a nudge
	keepPlace() // from now on the process is alone: its threads are only pushed aside by each other
	method() string
	close() error
}

// watched is a sleeper whose thread can be looked after by a second one, on another processor: when it should be awake
// and is not, it is fetched there.
type watched interface {
	beWatched() error    // begins that, for the thread that calls it, from which it may not sleep on another
	fetched() bool       // the last sleep ended so
	endWatch() (n int64) // ends that, and tells how often it was fetched
}

// The spin's bounds.
const (
	leastSpin = int64(15 * time.Microsecond)
	spinShare = 32 // of the time between two frames at most one in so many is spent on it: 3 % of a processor
	trials    = 24 // sleeps to calibrate with

	// the most by which a waking that is later than expected raises what is expected
	rise = int64(20 * time.Microsecond)
	// by which every other lowers it: so that one in two hundred is later, whatever the others are
	fall     = rise / 200
	hopeless = 2 // longest spins: what is later than these is beyond help
)

// spinner sleeps until shortly before a moment and looks at the clock until it is there: systems wake threads late, by
// a time that can be learnt.
type spinner struct {
	sleeper sleeper
	clock   func() int64
	most    int64 // the longest spin
	usual   int64 // how late it wakes; few times in a thousand it is later
	over    int64 // how long after its moment the last wait was woken
	woken   atomic.Bool
	watched watched // the sleeper, where it may be one; nil: it may not
}

// newSpinner takes over s, which sleeps by a clock.
func newSpinner(s sleeper, clock func() int64, r Rate) *spinner {
	w, _ := s.(watched)
	return &spinner{sleeper: s, clock: clock, most: max(leastSpin, int64(r.Interval())/spinShare), watched: w}
}

func (s *spinner) now() int64     { return s.clock() }
func (s *spinner) method() string { return s.sleeper.method() }
func (s *spinner) close() error   { return s.sleeper.close() }

func (s *spinner) nudge() {
	s.woken.Store(true)
	s.sleeper.nudge()
}

// spin is the usual lateness, and a little.
func (s *spinner) spin() int64 { return min(s.most, s.usual+leastSpin) }

func (s *spinner) overslept() int64 {
	over := s.over
	s.over = 0
	return over
}

func (s *spinner) until(t int64) {
	s.over = 0
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
		woken := s.now()
		if late := woken - wake; late >= 0 {
			if s.watched == nil || !s.watched.fetched() { // which says nothing of how late the others will be
				s.learn(late)
			}
			s.over = max(0, woken-t)
		} else {
			s.sleeper.calm() // nudged, which the loop sees; or for an old nudge or a signal, and then it sleeps on
		}
	}
	for s.now() < t && !s.woken.Load() {
	}
}

// learn learns from a waking. One that was far too late for any spin teaches nothing: where machines stand still now
// and then, for milliseconds, long spins would only cost.
func (s *spinner) learn(late int64) {
	switch {
	case late > hopeless*s.most:
	case late > s.usual:
		s.usual = min(late, s.usual+rise, s.most)
	default:
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
