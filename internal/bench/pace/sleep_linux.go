package pace

import (
	"time"

	"golang.org/x/sys/unix"
)

// nanosleepUntil sleeps by clock_nanosleep until a moment.
func nanosleepUntil(t time.Time) {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return
	}
	at := unix.NsecToTimespec(now.Nano() + int64(time.Until(t)))
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &at, nil) == unix.EINTR {
	}
}
