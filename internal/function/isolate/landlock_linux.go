//go:build amd64 || arm64

package isolate

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// sizeOfScoped is as much of the structure as kernels know that can scope; newer ones know more.
const sizeOfScoped = 24

// landlock makes a ruleset.
func landlock(a *unix.LandlockRulesetAttr) (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(a)), sizeOfScoped, 0)
	if errno != 0 {
		return 0, errno
	}
	unix.CloseOnExec(int(fd))
	return int(fd), nil
}
