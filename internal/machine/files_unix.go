//go:build linux || darwin

package machine

import "syscall"

// Files is how many files and connections this process may have open; 0: nobody says. Go has raised it as far as it may
// be by then.
func Files() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return limit.Cur
}
