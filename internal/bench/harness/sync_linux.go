package harness

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// datasync makes what was written to f durable, without what a reader does not need, such as times.
func datasync(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
