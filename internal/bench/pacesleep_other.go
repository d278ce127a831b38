//go:build !linux

package bench

import "time"

// nanosleepUntil sleeps as time.Sleep does.
func nanosleepUntil(t time.Time) { time.Sleep(time.Until(t)) }
