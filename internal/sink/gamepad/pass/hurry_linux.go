package pass

import (
	"golang.org/x/sys/unix"
)

// hurry gives this thread, to which its goroutine is locked for good, the best priority that is permitted: below that
// of the process that plays macros, above everybody who asked for nothing. It tells which.
func hurry() string {
	attr := unix.SchedAttr{
		Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Flags: unix.SCHED_FLAG_RESET_ON_FORK, Priority: 48,
	}
	if err := unix.SchedSetAttr(0, &attr, 0); err == nil {
		return "a thread with SCHED_FIFO 48"
	}
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // of the usual priority only: woken a little later without it
	for _, nice := range []int{-20, -10, -5} {
		if unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), nice) == nil {
			return "a thread with a higher priority; SCHED_FIFO is permitted by ulimit -r 48 or CAP_SYS_NICE"
		}
	}
	return "a thread with the usual priority; SCHED_FIFO is permitted by ulimit -r 48 or CAP_SYS_NICE"
}
