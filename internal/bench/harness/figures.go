package harness

import (
	"math"
	"time"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// SetRatio sets the median of rising ratios by its name, and their quartiles as name_q1 and name_q3.
func SetRatio(r *measure.Row, name string, rising []float64) {
	r.Set(name, Hundredths(Quantile(rising, 0.5))).
		Set(name+"_q1", Hundredths(Quantile(rising, 0.25))).Set(name+"_q3", Hundredths(Quantile(rising, 0.75)))
}

// Microseconds is d as a number of them.
func Microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// Hundredths drops the digits that are noise.
func Hundredths(f float64) float64 {
	if math.Abs(f) < 0.1 {
		return math.Round(f*10000) / 10000
	}
	return math.Round(f*100) / 100
}

// Milliseconds is d as a number of them, without the digits that are noise.
func Milliseconds(d time.Duration) float64 { return measure.Milliseconds(d) }

// Megabytes are millions of bytes, to a tenth.
func Megabytes(n int64) float64 { return math.Round(float64(n)/1e5) / 10 }
