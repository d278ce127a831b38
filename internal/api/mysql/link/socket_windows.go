package link

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// fileLock is a lock that ends with the process at the latest. Its file stays: the system removes no file that is open.
type fileLock struct{ file *os.File }

func lockFile(name string) (*fileLock, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	if err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped)); err != nil {
		err = fmt.Errorf("%w: another process has it (stop that process, or choose another path)", ErrSocket)
		return nil, errors.Join(err, f.Close())
	}
	return &fileLock{f}, nil
}

func (l *fileLock) release() error { return l.file.Close() }

// ours: who may remove the file is up to the system.
func ours(fs.FileInfo) bool { return true }

// socketLike: sockets are reparse points, which not every version of the system shows as sockets.
func socketLike(info fs.FileInfo) bool { return info.Mode()&fs.ModeIrregular != 0 }

func refused(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }

func createAs(fs.FileMode) func(string, string, syscall.RawConn) error { return nil }
