package rest

import (
	"strconv"
	"strings"
	"sync"
	"time"
)

// Pause keeps everything of one key, project or far end back for a while.
type Pause struct {
	mu      sync.Mutex
	until   time.Time
	reason  error
	strikes strikes
}

// Left tells how long it lasts yet, and why; 0: it does not.
func (p *Pause) Left(now time.Time) (time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, p.until.Sub(now)), p.reason
}

// Begin makes it last for d at least.
func (p *Pause) Begin(now time.Time, d time.Duration, reason error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := now.Add(d); until.After(p.until) {
		p.until, p.reason = until, reason
	}
}

// Strike counts an answer that asked for less, or for a wait, and that a device was given. When there were several in a
// short time, for several devices, the pause begins, for d at least, and Strike is true. device is any hash of the
// device.
func (p *Pause) Strike(now time.Time, device uint64, d time.Duration, reason error) bool {
	if !p.strikes.strike(now, device) {
		return false
	}
	p.Begin(now, d, reason)
	return true
}

const (
	strikeTime = time.Second // in which strikes count together
	strikesOut = 5           // for a pause
)

// strikes counts answers that ask for less.
type strikes struct {
	mu    sync.Mutex
	since time.Time
	n     int
	last  uint64
}

// strike counts one that a device was given, and tells whether there were so many, from several devices, that they are
// about everybody.
func (s *strikes) strike(now time.Time, device uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if age := now.Sub(s.since); age < 0 || age > strikeTime {
		s.since, s.n, s.last = now, 1, device
		return false
	}
	if device != s.last {
		s.last = device
		s.n++
	}
	return s.n >= strikesOut
}

// LongestAfter bounds the wait that a far end can ask for.
const LongestAfter = time.Hour

// After reads a Retry-After field: seconds, or an HTTP date. 0: it says nothing that can be heeded.
func After(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0
	}
	if n, err := strconv.ParseUint(text, 10, 32); err == nil {
		return min(time.Duration(n)*time.Second, LongestAfter)
	}
	for _, form := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC} {
		if at, err := time.Parse(form, text); err == nil {
			return min(max(0, at.Sub(now)), LongestAfter)
		}
	}
	return 0
}
