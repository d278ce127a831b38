package play

import (
	"math"
	"slices"
	"time"
)

// Times are durations from the shortest to the longest.
type Times []time.Duration

// Quantile is the shortest one that a share of them, from 0 to 1, does not exceed; 0 when there are none.
func (t Times) Quantile(share float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	return t[min(len(t)-1, max(0, int(math.Ceil(share*float64(len(t))))-1))]
}

// sorted is a copy in order.
func sorted(all []time.Duration) Times {
	return slices.Sorted(slices.Values(all))
}
