package file

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func datasync(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}

func preallocate(f *os.File, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EINVAL):
			st, err := f.Stat()
			if err != nil {
				return err
			}
			return writeZeros(f, st.Size(), size)
		default:
			return os.NewSyscallError("fallocate", err)
		}
	}
}

// willNeed begins to read into the page cache. It is advice: what goes wrong with it is found by who reads.
func willNeed(f *os.File, offset, n int64) {
	_ = unix.Fadvise(int(f.Fd()), offset, n, unix.FADV_WILLNEED)
}
