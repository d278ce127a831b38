package isolate

import "golang.org/x/sys/unix"

const (
	machine = unix.AUDIT_ARCH_X86_64
	x32     = 0x40000000 // the bit of the calls of programs with short pointers
)

var refusedHere = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_USELIB, unix.SYS__SYSCTL, unix.SYS_USTAT,
	unix.SYS_SYSFS, unix.SYS_MODIFY_LDT,
	unix.SYS_CREATE_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_QUERY_MODULE}
