//go:build unix

package link

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// fileLock is a lock that ends with the process at the latest.
type fileLock struct{ file *os.File }

// lockFile makes the file and locks it. Files of dead processes are taken over.
func lockFile(name string) (*fileLock, error) {
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o644)
		if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			defer f.Close()
			if !errors.Is(err, unix.EWOULDBLOCK) {
				return nil, fmt.Errorf("lock %s: %w", name, err)
			}
			return nil, fmt.Errorf("%w: %s has it (stop that process, or choose another path)", ErrSocket, processIn(f))
		}
		// Who had the lock before may have removed the name while we waited for its file: then the lock is worth
		// nothing.
		if !named(f, name) {
			f.Close()
			continue
		}
		if err := note(f); err != nil {
			return nil, errors.Join(err, os.Remove(name), f.Close())
		}
		return &fileLock{f}, nil
	}
}

// named tells whether the open file is the one of that name.
func named(f *os.File, name string) bool {
	here, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(here, there)
}

// note writes down who has the lock.
func note(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return err
}

func processIn(f *os.File) string {
	if pid, err := io.ReadAll(io.LimitReader(f, 20)); err == nil && len(pid) > 0 {
		return "process " + strings.TrimSpace(string(pid))
	}
	return "another process"
}

// release removes the file while its lock is still held, so that nobody locks a file that is about to lose its name.
func (l *fileLock) release() error {
	var err error
	if named(l.file, l.file.Name()) {
		err = os.Remove(l.file.Name())
	}
	return errors.Join(err, l.file.Close())
}

// ours tells whether the file belongs to the user that this process acts as.
func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(stat.Uid) == int64(os.Geteuid())
}

// socketLike: sockets are known by their mode.
func socketLike(fs.FileInfo) bool { return false }

// refused tells whether an error of connecting says that nobody listens.
func refused(err error) bool { return errors.Is(err, unix.ECONNREFUSED) }

// createAs lets the socket's file come into being without permissions that it shall not have: between its making and a
// later chmod anybody could connect. Systems that can not say so beforehand refuse, and are left with the chmod.
func createAs(mode fs.FileMode) func(string, string, syscall.RawConn) error {
	return func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) {
			_ = unix.Fchmod(int(fd), uint32(mode.Perm()))
		})
	}
}
