package fcm

import (
	"sync"
	"time"
)

const (
	manyAlike = 5                // devices
	alikeTime = 10 * time.Minute // in which they count together: a message that is held comes again each minute
)

// alike tells whether several devices are answered the same.
type alike struct {
	mu   sync.Mutex
	last [manyAlike]struct { // devices by their hashes, and when each was answered so
		device uint64
		at     time.Time
	}
}

// came counts an answer that a device was given, and tells whether there were several in the last minutes. Others than
// these devices may have good answers meanwhile.
func (a *alike) came(now time.Time, device uint64) (many bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	oldest := 0
	for i := range a.last {
		if a.last[i].device == device {
			oldest = i
			break
		}
		if a.last[i].at.Before(a.last[oldest].at) {
			oldest = i
		}
	}
	a.last[oldest].device, a.last[oldest].at = device, now
	for i := range a.last {
		if now.Sub(a.last[i].at) > alikeTime {
			return false
		}
	}
	return true
}
