//go:build unix

package machine

import (
	"syscall"
	"time"
)

// ProcessorTime is what this process has taken of the processors so far.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
