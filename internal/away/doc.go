// Package away knows a far end that cannot be reached: no address, no connection, no TLS with it. Nobody was asked
// anything then, so a message that was meant for it has not been tried. One caller at a time looks whether the far end
// is there again, after a rest that doubles: one that comes back is not met by a storm.
//
//	if left, why := far.Left(); left > 0 {
//		return component.Hold(left, why) // known to be away
//	}
//	resp, err := ask()
//	if err != nil && !connected {
//		return component.Hold(far.Away(err), err)
//	}
//	far.There()
//
// The zero Far is ready. It may be used from any goroutine. Telling is for the log: how often trouble that lasts is
// told.
package away

import (
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// The rests between two looks at a far end that is away.
const (
	FirstRest   = 100 * time.Millisecond
	LongestRest = 5 * time.Second
)

// lookTime is how long others wait for the one that looks.
const lookTime = 15 * time.Second

// Far is what is known of one far end.
type Far struct {
	away atomic.Bool // what callers look at while all is well

	mu      sync.Mutex
	rest    time.Duration // the last one
	until   time.Time     // nobody looks before
	why     error
	looking bool // one caller looks, until then
}

// Left tells how long a caller has to wait yet, and why. 0: it may go on, and has to call Away or There when it knows
// more; where the far end is away it is the one that looks.
func (f *Far) Left() (time.Duration, error) {
	if !f.away.Load() {
		return 0, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if !f.away.Load() {
		return 0, nil
	}
	if left := f.until.Sub(now); left > 0 {
		if f.looking {
			left = min(left, f.rest) // it may be there any moment
		}
		return left, f.why
	}
	// The one that looks has this long: should it never come back, another may.
	f.looking, f.until = true, now.Add(lookTime)
	return 0, nil
}

// Away notes that the far end could not be reached, and tells how long to wait. What several callers find at once
// counts once.
func (f *Far) Away(why error) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if left := f.until.Sub(now); f.away.Load() && !f.looking && left > 0 {
		return left
	}
	f.rest = min(max(2*f.rest, FirstRest), LongestRest)
	wait := f.rest/2 + rand.N(f.rest)
	f.until, f.why, f.looking = now.Add(wait), why, false
	f.away.Store(true)
	return wait
}

// There notes that the far end was reached.
func (f *Far) There() {
	if !f.away.Load() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rest, f.until, f.why, f.looking = 0, time.Time{}, nil, false
	f.away.Store(false)
}

// Why is what the last look failed of; nil: the far end is not known to be away.
func (f *Far) Why() error {
	if !f.away.Load() {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.why
}

// Is tells whether an error means that no connection came about: a name without an address, a refused or an unanswered
// connection. Errors of TLS are not among them: only who made the connection knows whether a request was sent through
// it.
func Is(err error) bool {
	if name := (*net.DNSError)(nil); errors.As(err, &name) {
		return true
	}
	if op := (*net.OpError)(nil); errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return true
	}
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EHOSTUNREACH) ||
		errors.Is(err, syscall.ENETUNREACH)
}
