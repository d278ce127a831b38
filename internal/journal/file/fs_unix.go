//go:build unix

package file

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// dontWait has an open of a pipe not wait for its other end.
const dontWait = unix.O_NONBLOCK

// renamesOpen says that a file can be renamed while it is open.
const renamesOpen = true

// outOfHandles says that err means that this process, or the machine, may have no more files open.
func outOfHandles(err error) bool { return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) }

// inode is what a file or folder is known by: no two that exist at one time share it.
type inode struct{ device, file uint64 }

func identify(name string) (ID, error) {
	var st unix.Stat_t
	if err := retried(func() error { return unix.Stat(name, &st) }); err != nil {
		return nil, &os.PathError{Op: "stat", Path: name, Err: err}
	}
	return inode{uint64(st.Dev), st.Ino}, nil //nolint:unconvert // Dev has other types elsewhere
}

func identifyOpen(f *os.File) (ID, error) {
	var st unix.Stat_t
	if err := retried(func() error { return unix.Fstat(int(f.Fd()), &st) }); err != nil {
		return nil, &os.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return inode{uint64(st.Dev), st.Ino}, nil //nolint:unconvert // as above
}

// retried calls a function again that a signal interrupted.
func retried(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Map gives the first n bytes of the file as memory.
func (f osFile) Map(n int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// Unmap gives back what Map gave.
func (f osFile) Unmap(b []byte) error { return unix.Munmap(b) }
