package deployment

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/away"
	"github.com/hikyaku/hikyaku/internal/function"
)

// stillFor is how long no message of a queue may reach its function before that is told.
const stillFor = 5 * time.Second

// standstill knows whether the messages of one queue reach their function, and reports when they do not: at once when
// they cannot, after stillFor when there is no room for them, and again at intervals. Its methods may be called from
// any goroutine.
type standstill struct {
	waiting, again string // for the log: "queue orders does not feed function f", "queue orders feeds function f again"
	report         func(error)

	mu      sync.Mutex
	under   int       // invocations that run
	began   time.Time // of the waiting for room since an invocation last ended; zero: none waited
	telling away.Telling
}

// begins notes that an invocation begins.
func (s *standstill) begins() {
	s.mu.Lock()
	s.under++
	s.mu.Unlock()
}

// ends notes that an invocation has ended: with an answer, or with an error because there was none. An error that says
// nothing of those that come next, as when a context ends, is aside.
func (s *standstill) ends(err error, aside bool) {
	now := time.Now()
	s.mu.Lock()
	s.under--
	var over, due bool
	switch {
	case errors.Is(err, function.ErrThrottled): // it did not run
		due = s.noRoom(now, now)
	case err == nil:
		s.began = time.Time{}
		over = s.telling.Over(now)
	case !aside:
		due = s.telling.Due(now)
	}
	s.mu.Unlock()
	switch {
	case due:
		s.report(fmt.Errorf("%s: %w", s.waiting, err))
	case over:
		s.report(errors.New(s.again))
	}
}

// waits notes that there has been no room for an invocation since a time.
func (s *standstill) waits(since time.Time, why error) {
	s.mu.Lock()
	due := s.noRoom(since, time.Now())
	s.mu.Unlock()
	if due {
		s.report(fmt.Errorf("%s: %w", s.waiting, why))
	}
}

// noRoom tells whether it is to be told that there is no room for an invocation: while others of the queue run, its
// messages move. s.mu is held.
func (s *standstill) noRoom(since, now time.Time) bool {
	if s.under > 0 {
		return false
	}
	if s.began.IsZero() || since.Before(s.began) {
		s.began = since
	}
	return now.Sub(s.began) >= stillFor && s.telling.Due(now)
}
