//go:build !linux

package pace

import "time"

// nanosleepUntil sleeps as time.Sleep does.
func nanosleepUntil(t time.Time) { time.Sleep(time.Until(t)) }
