package pace

import (
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fifo gives a thread of this process a real-time priority; 0 is this one. Threads and processes that it begins have
// the usual one.
func fifo(thread int, priority uint32) error {
	attr := unix.SchedAttr{Size: uint32(unsafe.Sizeof(unix.SchedAttr{})), Policy: unix.SCHED_FIFO,
		Flags: unix.SCHED_FLAG_RESET_ON_FORK, Priority: priority}
	return unix.SchedSetAttr(thread, &attr, 0)
}

// promote gives the process's other threads a real-time priority, too, just below that of the one that plays. They do
// little, but they share the runtime's locks with it: one that is pushed aside by somebody's calculation while it holds
// one would let the player wait for its turn.
//
// known are those that were seen before.
func promote(known map[int]bool) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range threads {
		thread, err := strconv.Atoi(t.Name())
		if err != nil || known[thread] {
			continue
		}
		known[thread] = true
		if has, err := unix.SchedGetAttr(thread, 0); err == nil && has.Policy != unix.SCHED_FIFO {
			_ = fifo(thread, fifoPriority-1) // without it, the thread is as it was
		}
	}
}

// fifoPriority is below that of the kernel's interrupt threads, and above every process that asked for nothing.
const fifoPriority = 49

// prioritize gives this thread, to which its goroutine is locked, the best priority that is permitted, and keeps the
// process's memory.
func prioritize(f *Footing) {
	f.Priority = "normal"
	if err := fifo(0, fifoPriority); err == nil {
		f.Priority = fmt.Sprintf("SCHED_FIFO %d", fifoPriority)
	} else {
		f.Lacking = append(f.Lacking, fmt.Sprintf("SCHED_FIFO: %v; it is permitted by ulimit -r %d, LimitRTPRIO or "+
			"CAP_SYS_NICE", err, fifoPriority))
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // of the usual priority only
		for _, nice := range []int{-20, -10, -5} {
			if unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), nice) == nil {
				f.Priority = fmt.Sprintf("nice %d", nice)
				break
			}
		}
	}
	// What is touched stays; the rest of a large program is not read for it.
	if err := unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE | unix.MCL_ONFAULT); err == nil {
		f.Locked = true
	} else {
		f.Lacking = append(f.Lacking, fmt.Sprintf("locked memory: %v; it is permitted by ulimit -l unlimited, "+
			"LimitMEMLOCK or CAP_IPC_LOCK", err))
	}
}
