package pace

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"time"
)

// A histogram's bins: exact below 2^bitsExact nanoseconds, then so many a doubling.
const (
	bitsExact = 6
	perOctave = 1 << (bitsExact - 1)
	bins      = (63-bitsExact)*perOctave + 1<<bitsExact
)

// Histogram counts durations in bins that are exact below 64 ns and at most 3.2 % wide above. The zero value is ready.
// It is not for several goroutines at once; copies are independent.
type Histogram struct {
	counts [bins]int64
	n      int64
	sum    time.Duration
	max    time.Duration
}

// bin is where a duration is counted.
func bin(d time.Duration) int {
	v := uint64(d)
	if v < 1<<bitsExact {
		return int(v)
	}
	octave := bits.Len64(v) - bitsExact
	return octave*perOctave + int(v>>octave)
}

// edge is the least duration that is counted in a bin.
func edge(i int) time.Duration {
	if i < 1<<bitsExact {
		return time.Duration(i)
	}
	octave := i/perOctave - 1
	return time.Duration(i-octave*perOctave) << octave
}

// Add counts a duration; a negative one as 0.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	h.counts[bin(d)]++
	h.n++
	h.sum += d
	h.max = max(h.max, d)
}

// Count is how many were added.
func (h *Histogram) Count() int64 { return h.n }

// Max is the longest of them.
func (h *Histogram) Max() time.Duration { return h.max }

// Mean is their average; 0 when there are none.
func (h *Histogram) Mean() time.Duration {
	if h.n == 0 {
		return 0
	}
	return h.sum / time.Duration(h.n)
}

// Quantile is the duration that a share of them, from 0 to 1, does not exceed: the upper end of its bin, and never more
// than Max. 0 when there are none.
func (h *Histogram) Quantile(share float64) time.Duration {
	want := max(1, int64(share*float64(h.n)+0.999999))
	for i, n := range h.counts {
		if want -= n; n > 0 && want <= 0 {
			return min(h.max, edge(i+1)-1)
		}
	}
	return h.max
}

// Each calls f for each bin that has something in it, from the shortest on: n durations of at least from and less than
// to. It ends when f returns false.
func (h *Histogram) Each(f func(from, to time.Duration, n int64) bool) {
	for i, n := range h.counts {
		if n > 0 && !f(edge(i), edge(i+1), n) {
			return
		}
	}
}

// String is one line for people: how many there are, and how long.
func (h Histogram) String() string {
	return fmt.Sprintf("%d: p50 %v, p99 %v, p99.9 %v, max %v", h.n, h.Quantile(0.5), h.Quantile(0.99),
		h.Quantile(0.999), h.max)
}

// histogramText is a histogram in JSON: bins are those with something in them, each as its least duration in
// nanoseconds and its count.
type histogramText struct {
	Count int64      `json:"count"`
	Sum   int64      `json:"sum_ns"`
	Max   int64      `json:"max_ns"`
	Bins  [][2]int64 `json:"bins"`
}

// MarshalJSON writes {"count", "sum_ns", "max_ns", "bins": [[from_ns, n], …]}.
func (h Histogram) MarshalJSON() ([]byte, error) {
	t := histogramText{h.n, int64(h.sum), int64(h.max), [][2]int64{}}
	h.Each(func(from, _ time.Duration, n int64) bool {
		t.Bins = append(t.Bins, [2]int64{int64(from), n})
		return true
	})
	return json.Marshal(t)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (h *Histogram) UnmarshalJSON(b []byte) error {
	var t histogramText
	if err := json.Unmarshal(b, &t); err != nil {
		return fmt.Errorf("pace: read a histogram: %w", err)
	}
	read := Histogram{n: t.Count, sum: time.Duration(t.Sum), max: time.Duration(t.Max)}
	total := int64(0)
	for _, c := range t.Bins {
		if c[0] < 0 || c[1] < 0 || c[1] > t.Count-total {
			return fmt.Errorf("pace: read a histogram: %d counts from %d ns on cannot be", c[1], c[0])
		}
		read.counts[bin(time.Duration(c[0]))] += c[1]
		total += c[1]
	}
	if total != t.Count || t.Max < 0 || t.Sum < 0 {
		return fmt.Errorf("pace: read a histogram: %d in its bins, and %d in all", total, t.Count)
	}
	*h = read
	return nil
}
