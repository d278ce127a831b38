package journey

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// meter finds out about how long the slowest hundredth of what happens at a place takes. It counts in buckets, each a
// fifth wider than the one before, and forgets: half of what it has counted each time that there is much of it.
type meter struct {
	counts [buckets]atomic.Uint32
	seen   atomic.Uint64
	slow   atomic.Int64 // what takes longer is slow; 0: not known yet
}

const (
	parts   = 4 // of each doubling
	buckets = 44 * parts

	reckonEach = 256  // so often the bound is found anew
	forgetEach = 8192 // and half of all counts forgotten
)

// bucketOf is where a time is counted, by its microseconds.
func bucketOf(d time.Duration) int {
	us := uint64(max(0, d.Microseconds()))
	if us < parts {
		return int(us)
	}
	log := bits.Len64(us) - 1
	return min((log-1)*parts+int(us>>(log-2)&(parts-1)), buckets-1)
}

// endOf is the least time behind a bucket.
func endOf(b int) time.Duration {
	if b < parts {
		return time.Duration(b+1) * time.Microsecond
	}
	log := b/parts + 1
	return time.Duration(uint64(parts+b%parts+1)<<(log-2)) * time.Microsecond
}

// within is how long a part of what happened took at most, 0.99 of it being the 99th percentile. ok: something did.
func (m *meter) within(part float64) (d time.Duration, ok bool) {
	var counts [buckets]uint64
	var sum, upto uint64
	for i := range counts {
		counts[i] = uint64(m.counts[i].Load())
		sum += counts[i]
	}
	for i, n := range counts {
		if upto += n; sum > 0 && float64(upto) >= part*float64(sum) {
			return endOf(i), true
		}
	}
	return 0, false
}

// isSlow counts a time, and tells whether it is slow.
func (m *meter) isSlow(d time.Duration) bool {
	m.counts[bucketOf(d)].Add(1)
	if n := m.seen.Add(1); n%reckonEach == 0 {
		m.reckon(n%forgetEach == 0)
	}
	bound := m.slow.Load()
	return bound > 0 && int64(d) >= bound
}

// reckon finds the bound. What others count meanwhile may be missed: it is an estimate.
func (m *meter) reckon(forget bool) {
	var sum, upto uint64
	var counts [buckets]uint64
	for i := range counts {
		counts[i] = uint64(m.counts[i].Load())
		sum += counts[i]
		if forget && counts[i] > 0 {
			m.counts[i].Add(-uint32(counts[i] - counts[i]/2))
		}
	}
	for i, n := range counts {
		if upto += n; upto*100 >= sum*99 {
			m.slow.Store(int64(endOf(i)))
			return
		}
	}
}
