package file

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mincore asks which pages of mapped memory are there.
func mincore(b, vec []byte) error {
	if _, _, err := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&vec[0]))); err != 0 {
		return err
	}
	return nil
}
