package rows

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// How often it is said that rows wait: after the first time ever more rarely, and often again after calm.
const (
	firstSilence   = 10 * time.Second
	longestSilence = 10 * time.Minute
)

// mostNotices bounds what is kept for the log.
const mostNotices = 100

// notices are what a person should know of a sink that runs: that rows wait, for what, and that they wait no more. The zero value is ready.
type notices struct {
	wait atomic.Bool // rows wait, as far as is known: who writes looks here alone

	mu      sync.Mutex
	list    []string
	since   time.Time     // when the waiting began that goes on
	last    time.Time     // when it was last known of
	told    bool          // it was said
	next    time.Time     // nothing more is said before
	silence time.Duration // after the last time
}

// waiting notes that rows wait now, and why.
func (n *notices) waiting(why error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	if !n.wait.Swap(true) {
		n.since = now
	}
	if now.Sub(n.last) > longestSilence {
		n.silence = 0
	}
	n.last = now
	if now.Before(n.next) {
		return
	}
	n.silence = min(max(2*n.silence, firstSilence), longestSilence)
	n.next = now.Add(n.silence)
	n.told = true
	if long := now.Sub(n.since).Round(time.Second); long > 0 {
		n.add(fmt.Sprintf("rows have waited for %v: %v", long, why))
		return
	}
	n.add(fmt.Sprintf("rows wait, and it is tried again: %v", why))
}

// written notes that rows are written.
func (n *notices) written() {
	if !n.wait.Load() {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.wait.Swap(false) && n.told {
		n.told = false
		n.add(fmt.Sprintf("rows are written again, after %v", time.Since(n.since).Round(time.Millisecond)))
	}
}

func (n *notices) add(text string) {
	if len(n.list) < mostNotices {
		n.list = append(n.list, text)
	}
}

// all are those that there are. A list that is full is given out once and then begun anew.
func (n *notices) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := slices.Clone(n.list)
	if len(n.list) == mostNotices {
		n.list = nil
	}
	return all
}
