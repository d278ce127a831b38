package isolate

import "golang.org/x/sys/unix"

const (
	machine = unix.AUDIT_ARCH_AARCH64
	x32     = 0
)

var refusedHere []uint32
