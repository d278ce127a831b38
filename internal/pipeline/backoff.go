package pipeline

import "time"

// backoff returns how long to sleep before retry number n (from 1): a random time below a bound that doubles with every
// retry ("full jitter"), but no less than the far end asked for. random is in [0, 1).
func backoff(r Request, n int, asked time.Duration, random float64) time.Duration {
	bound := r.RetryMax
	if doublings := n - 1; doublings < 62 {
		if b := r.RetryInitial << doublings; b>>doublings == r.RetryInitial && b < bound {
			bound = b
		}
	}
	return max(asked, time.Duration(random*float64(bound)))
}
