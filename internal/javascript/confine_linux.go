package javascript

import (
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// confine takes from this process what it does not need. None of it can be had again.
func confine() error {
	for _, l := range []struct {
		what int
		most uint64
	}{
		{unix.RLIMIT_DATA, maxMemory}, {unix.RLIMIT_CORE, 0}, {unix.RLIMIT_FSIZE, 0}, {unix.RLIMIT_NOFILE, 16},
		{unix.RLIMIT_MEMLOCK, 0}, {unix.RLIMIT_MSGQUEUE, 0},
	} {
		if err := unix.Setrlimit(l.what, &unix.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return fmt.Errorf("cannot bound a process for JavaScript: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot bound a process for JavaScript: %w", err)
	}
	return nil
}

// cpuTime is what this process has had of the processors.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// self is the file of this program, also when another has taken its name.
const self = "/proc/self/exe"

// apart keeps a terminal's signals from a process: its owner decides.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

const supported = true
