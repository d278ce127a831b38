package measure

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	longest = 24 * time.Hour // what a histogram tells apart; longer durations count as this one but for Max and Mean
	digits  = 3
)

// Histogram counts durations, to the nanosecond where they are short and to three significant digits where they are
// long. Min, Max and Mean are exact. Its methods may be called from any goroutine. It takes some 300 KB whatever it
// counts.
type Histogram struct {
	mu       sync.Mutex
	counts   *hdrhistogram.Histogram
	n        int64
	sum      float64 // nanoseconds
	min, max time.Duration
}

// NewHistogram returns an empty histogram.
func NewHistogram() *Histogram {
	return &Histogram{counts: hdrhistogram.New(1, int64(longest), digits)}
}

// Record counts a duration. A negative one, which only a clock that was set can cause, counts as 0.
func (h *Histogram) Record(d time.Duration) { h.RecordN(d, 1) }

// RecordN counts a duration n times. It does nothing if n is not positive.
func (h *Histogram) RecordN(d time.Duration, n int64) {
	if n <= 0 {
		return
	}
	d = max(d, 0)
	h.mu.Lock()
	defer h.mu.Unlock()
	// The value is within the range, so the only error there is cannot happen.
	_ = h.counts.RecordValues(int64(min(d, longest)), n)
	h.note(n, float64(d)*float64(n), d, d)
}

func (h *Histogram) note(n int64, sum float64, low, high time.Duration) {
	if h.n == 0 {
		h.min, h.max = low, high
	}
	h.min, h.max = min(h.min, low), max(h.max, high)
	h.n += n
	h.sum += sum
}

// Merge adds what other counted. Merging a histogram into itself doubles its counts.
func (h *Histogram) Merge(other *Histogram) {
	o := other.Snapshot() // so that no two locks are ever held at once
	if o.n == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts.Merge(o.counts)
	h.note(o.n, o.sum, o.min, o.max)
}

// Snapshot returns an independent copy.
func (h *Histogram) Snapshot() *Histogram {
	h.mu.Lock()
	defer h.mu.Unlock()
	return &Histogram{counts: h.counts.Clone(), n: h.n, sum: h.sum, min: h.min, max: h.max}
}

// Reset forgets everything.
func (h *Histogram) Reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts.Reset()
	h.n, h.sum, h.min, h.max = 0, 0, 0, 0
}

// Quantile returns the duration that a share q of all durations does not exceed: 0.99 for p99. q is taken to lie
// between 0 and 1. An empty histogram returns 0.
func (h *Histogram) Quantile(q float64) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.quantile(q)
}

func (h *Histogram) quantile(q float64) time.Duration {
	switch {
	case h.n == 0:
		return 0
	case !(q > 0): // also NaN
		return h.min
	case q >= 1:
		return h.max
	}
	d := time.Duration(h.counts.ValueAtPercentile(100 * q))
	return min(max(d, h.min), h.max)
}

// Mean returns the arithmetic mean, 0 if there is nothing.
func (h *Histogram) Mean() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mean()
}

func (h *Histogram) mean() time.Duration {
	if h.n == 0 {
		return 0
	}
	return time.Duration(h.sum / float64(h.n))
}

// Min returns the shortest duration, 0 if there is nothing.
func (h *Histogram) Min() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.min
}

// Max returns the longest duration, 0 if there is nothing.
func (h *Histogram) Max() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.max
}

// Count returns how many durations were counted.
func (h *Histogram) Count() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.n
}

// Summary is what is usually said of a histogram, all of it about the same moment.
type Summary struct {
	Count                               int64
	Mean, Min, P50, P90, P99, P999, Max time.Duration
}

// Summary returns the usual figures.
func (h *Histogram) Summary() Summary {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Summary{
		Count: h.n, Mean: h.mean(), Min: h.min, Max: h.max,
		P50: h.quantile(0.50), P90: h.quantile(0.90), P99: h.quantile(0.99), P999: h.quantile(0.999),
	}
}
