package pace

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"time"
)

// Rate is so many frames in so much time, as an exact fraction: 60000/1001 a second is that, and not 59.94. The zero
// value is no rate. Rates can be compared with ==: equal ones have one form.
type Rate struct {
	frames, span uint64 // frames in span nanoseconds, in lowest terms
}

// ErrRate is wrapped by the errors about rates that cannot be.
var ErrRate = errors.New("pace: no such rate")

// NTSC is the frame rate of television and of consoles in its lands: 60000/1001 frames a second.
func NTSC() Rate { return Rate{3, 50_050_000} }

// PerSecond is num/den frames a second. Both have to be positive, and den at most 9,223,372,036.
func PerSecond(num, den int64) (Rate, error) {
	if den <= 0 || den > math.MaxInt64/int64(time.Second) {
		return Rate{}, fmt.Errorf("%w: %d/%d a second; the lower number is from 1 to %d", ErrRate, num, den,
			math.MaxInt64/int64(time.Second))
	}
	return Every(num, time.Duration(den)*time.Second)
}

// Every is n frames in each span. Both have to be positive, and frames at least a nanosecond apart.
func Every(n int64, span time.Duration) (Rate, error) {
	if n <= 0 || span <= 0 {
		return Rate{}, fmt.Errorf("%w: %d in %v; both have to be positive", ErrRate, n, span)
	}
	if n > int64(span) {
		return Rate{}, fmt.Errorf("%w: %d in %v; the most is one a nanosecond", ErrRate, n, span)
	}
	d := divisor(uint64(n), uint64(span))
	return Rate{uint64(n) / d, uint64(span) / d}, nil
}

// divisor is the greatest that a and b have in common.
func divisor(a, b uint64) uint64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// IsZero tells whether r is no rate.
func (r Rate) IsZero() bool { return r.frames == 0 }

// Deadline is when frame n (from 0) is due, counted from frame 0: n frames' time in whole nanoseconds, rounded up. It
// is worked out from n alone, so that no error adds up. A deadline beyond 292 years is 292 years; that of a frame
// before the first, or of no rate, is 0.
func (r Rate) Deadline(n int64) time.Duration {
	if n <= 0 || r.frames == 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(n), r.span)
	if high >= r.frames {
		return math.MaxInt64
	}
	q, rest := bits.Div64(high, low, r.frames)
	if rest > 0 {
		q++
	}
	if q > math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(q)
}

// Frame is the last frame that is due d after frame 0, the inverse of Deadline. Before frame 0, and of no rate, it is
// -1.
func (r Rate) Frame(d time.Duration) int64 {
	if d < 0 || r.frames == 0 {
		return -1
	}
	high, low := bits.Mul64(uint64(d), r.frames)
	q, _ := bits.Div64(high, low, r.span) // cannot overflow: there are at most as many frames as nanoseconds
	return int64(q)
}

// Interval is the time between two frames, rounded to nanoseconds. Do not add it up; that is what Deadline is for.
func (r Rate) Interval() time.Duration {
	if r.frames == 0 {
		return 0
	}
	return time.Duration((r.span + r.frames/2) / r.frames)
}

// PerSecond is the rate as a number, for people.
func (r Rate) PerSecond() float64 {
	if r.frames == 0 {
		return 0
	}
	return float64(r.frames) * float64(time.Second) / float64(r.span)
}
