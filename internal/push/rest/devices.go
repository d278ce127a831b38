package rest

import (
	"hash/maphash"
	"sync"
	"time"
)

const (
	first     = 2 * time.Second // of a device that was strained
	longest   = 5 * time.Minute
	mostKnown = 100_000 // devices that rest
)

// Devices are those that rest.
type Devices struct {
	mu     sync.RWMutex
	seed   maphash.Seed
	known  map[uint64]resting
	tidied time.Time
}

type resting struct {
	until time.Time
	rest  time.Duration
}

func (ds *Devices) key(app, token string) uint64 {
	var h maphash.Hash
	h.SetSeed(ds.seed)
	_, _ = h.WriteString(app) // never fails
	_ = h.WriteByte(0)
	_, _ = h.WriteString(token)
	return h.Sum64()
}

// Left is how long a device rests yet; 0: it does not.
func (ds *Devices) Left(app, token string, now time.Time) time.Duration {
	ds.mu.RLock()
	defer ds.mu.RUnlock()
	if len(ds.known) == 0 {
		return 0
	}
	return max(0, ds.known[ds.key(app, token)].until.Sub(now))
}

// Strain lets a device rest as long as the far end asked for, and at least twice as long as the time before. It returns
// how long.
func (ds *Devices) Strain(app, token string, now time.Time, asked time.Duration) time.Duration {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	if ds.known == nil {
		ds.seed, ds.known = maphash.MakeSeed(), map[uint64]resting{}
	}
	k := ds.key(app, token)
	r, again := ds.known[k]
	if left := r.until.Sub(now); left > 0 && left >= asked {
		return left // an answer to a request that was sent before
	} else if left <= 0 {
		r.rest = min(max(2*r.rest, first), longest)
	}
	rest := max(r.rest, asked)
	r.until = now.Add(rest)
	if !again && len(ds.known) >= mostKnown && now.Sub(ds.tidied) > first {
		ds.tidy(now) // looks at all of them
		ds.tidied = now
	}
	if again || len(ds.known) < mostKnown {
		ds.known[k] = r
	}
	return rest
}

// Calm forgets that a device had to rest.
func (ds *Devices) Calm(app, token string) {
	ds.mu.RLock()
	none := len(ds.known) == 0
	ds.mu.RUnlock()
	if none {
		return
	}
	ds.mu.Lock()
	defer ds.mu.Unlock()
	delete(ds.known, ds.key(app, token))
}

// Resting is how many devices rest.
func (ds *Devices) Resting(now time.Time) (n int) {
	ds.mu.RLock()
	defer ds.mu.RUnlock()
	for _, r := range ds.known {
		if r.until.After(now) {
			n++
		}
	}
	return n
}

// tidy forgets those whose rest is long over.
func (ds *Devices) tidy(now time.Time) {
	for k, r := range ds.known {
		if now.Sub(r.until) > r.rest {
			delete(ds.known, k)
		}
	}
}
