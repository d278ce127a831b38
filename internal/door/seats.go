package door

import (
	"math"
	"sync"
)

// Seats bound the connections of several doors together: more wait for one to end, before they are accepted. So
// connections, which anybody can open, leave files to the journal: without one it cannot begin a segment. Its methods
// may be called from any goroutine.
type Seats struct {
	free  chan struct{}
	alone int // that each door has besides, for itself: who holds the others of some doors leaves every other one these
}

// doorSeats are those of one door. nil: as many as are wanted.
type doorSeats struct{ alone, free chan struct{} }

// mostAlone bounds the seats that a door has for itself.
const mostAlone = 64

// The files that connections leave to everything else: a quarter of all, at least as many as a journal, checkpoints,
// sinks and functions need as a rule, but half of all at most.
const (
	leaveShare = 4
	leaveLeast = 1024
)

// SeatsFor makes seats in a process that may have so many files open; 0: nobody says, and nil bounds nothing.
func SeatsFor(files uint64) *Seats {
	if files == 0 {
		return nil
	}
	leave := min(max(files/leaveShare, leaveLeast), files/2)
	all := int(min(files-leave, math.MaxInt32))
	alone := min(all/aloneShare, mostAlone)
	return &Seats{make(chan struct{}, all-mostDoors*alone), alone}
}

// ofDoor are the seats of one of at most mostDoors.
func (s *Seats) ofDoor() *doorSeats {
	if s == nil {
		return nil
	}
	return &doorSeats{alone: make(chan struct{}, s.alone), free: s.free}
}

// take waits for a seat, until closed is closed. leave gives it back, once.
func (s *doorSeats) take(closed <-chan struct{}) (leave func(), ok bool) {
	if s == nil {
		return func() {}, true
	}
	of := s.alone
	select {
	case s.alone <- struct{}{}:
	default:
		select {
		case s.alone <- struct{}{}:
		case s.free <- struct{}{}:
			of = s.free
		case <-closed:
			return nil, false
		}
	}
	return sync.OnceFunc(func() { <-of }), true
}
