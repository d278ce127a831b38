package bench

import (
	"math"
	"time"

	"github.com/hikyaku/hikyaku/internal/measure"
)

func setRatio(r *measure.Row, name string, rising []float64) {
	r.Set(name, hundredths(quantile(rising, 0.5))).
		Set(name+"_q1", hundredths(quantile(rising, 0.25))).Set(name+"_q3", hundredths(quantile(rising, 0.75)))
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// hundredths drops the digits that are noise.
func hundredths(f float64) float64 {
	if math.Abs(f) < 0.1 {
		return math.Round(f*10000) / 10000
	}
	return math.Round(f*100) / 100
}

func milliseconds(d time.Duration) float64 { return measure.Milliseconds(d) }

// megabytes are millions of bytes, to a tenth.
func megabytes(n int64) float64 { return math.Round(float64(n)/1e5) / 10 }
