package door

import (
	"math"
	"sync"
)

// Seats bound the connections of several doors together: more wait for one to end, before they are accepted. So
// connections, which anybody can open, leave files to the journal: without one it cannot begin a segment. Its methods
// may be called from any goroutine.
type Seats struct{ free chan struct{} }

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
	return &Seats{make(chan struct{}, min(files-leave, math.MaxInt32))}
}

// take waits for a seat, until closed is closed. leave gives it back, once.
func (s *Seats) take(closed <-chan struct{}) (leave func(), ok bool) {
	if s == nil {
		return func() {}, true
	}
	select {
	case s.free <- struct{}{}:
		return sync.OnceFunc(func() { <-s.free }), true
	case <-closed:
		return nil, false
	}
}
