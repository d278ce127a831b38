package sqs

import (
	"sync"
	"time"
)

// share is what hands still have to take. What one reserved and did not get, another may. Its methods are for many
// goroutines at once; it is not used again once it is over.
type share struct {
	mu      sync.Mutex
	changed sync.Cond
	left    int64 // not reserved
	flying  int   // hands with a reservation
	over    bool
	loose   bool      // for good: nothing is reserved: who takes first, takes
	last    time.Time // when something was last taken
}

func newShare(n int64) *share {
	s := &share{left: n}
	s.changed.L = &s.mu
	return s
}

// reserve returns how many to take, most at most; 0 when all is taken, or when a hand has given up.
func (s *share) reserve(most int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.left <= 0 && s.flying > 0 && !s.over {
		s.changed.Wait()
	}
	if s.over {
		return 0
	}
	n := int(max(0, min(s.left, int64(most))))
	if n > 0 && !s.loose {
		s.left -= int64(n)
		s.flying++
	}
	return n
}

// settle says how many of the reserved were taken.
func (s *share) settle(reserved, got int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if got > 0 {
		s.last = time.Now()
	}
	if s.loose {
		s.left -= int64(got)
	} else {
		s.left += int64(reserved - got)
		s.flying--
	}
	s.changed.Broadcast()
}

// ended is how long it took, from when it began, until the last was taken; until now, if something is left.
func (s *share) ended(began time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left > 0 || s.last.IsZero() {
		return time.Since(began)
	}
	return s.last.Sub(began)
}

// wake lets nobody wait any more: a hand is done, because all is taken, or the time is over, or something failed.
func (s *share) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.changed.Broadcast()
}
