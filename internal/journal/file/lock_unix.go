//go:build unix

package file

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/durable"
	"github.com/hikyaku/hikyaku/internal/journal"
)

// folderLock is two locks: of the folder, which cannot be unlinked away from under who holds it, and of the file in it,
// which tells others the number of the process, and keeps those out who know nothing of the first.
type folderLock struct {
	name string
	dir  *os.File
	conn syscall.RawConn // of dir
	sole bool            // the file system does not lock folders: the file is all there is
	file *os.File
}

// lockFile takes the lock of a file and of its folder. It ends with the process at the latest. The file stays: removing
// it would let two processes lock two files of the same name.
func lockFile(name string) (_ Lock, err error) {
	l := &folderLock{name: name}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if l.dir, err = os.Open(filepath.Dir(name)); err != nil {
		return nil, err
	}
	if l.conn, err = l.dir.SyscallConn(); err != nil {
		return nil, err
	}
	switch err := flock(l.dir); {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, l.lockedBy()
	case err != nil: // a file system over a network may lock only files that are open for writing
		l.sole = true
	}
	if l.file, err = l.take(os.O_CREATE); err != nil {
		return nil, err
	}
	return l, nil
}

// lockTries is how often a lock is tried for that somebody holds: who only looks whether it is held has it for a
// moment.
const lockTries = 5

// maxLockBytes is more than the number of a process has.
const maxLockBytes = 24

func flock(f *os.File) error {
	for try := 1; ; try++ {
		err := retried(func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) })
		if !errors.Is(err, unix.EWOULDBLOCK) || try == lockTries {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// take opens and locks the file, and writes the number of the process into it.
func (l *folderLock) take(how int) (*os.File, error) {
	f, err := os.OpenFile(l.name, os.O_RDWR|dontWait|how, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(f); err != nil {
		f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", l.name, err)
		}
		return nil, l.lockedBy()
	}
	if size, err := (osFile{f}).Size(); err == nil && size > maxLockBytes {
		f.Close()
		return nil, fmt.Errorf("%s has %d bytes: it is no lock file, perhaps a link to another", l.name, size)
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	}
	if err != nil && !durable.Full(err) {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (l *folderLock) lockedBy() error {
	return fmt.Errorf("%w: folder %s, %s", journal.ErrLocked, filepath.Dir(l.name), processIn(l.name))
}

// Hold implements Lock.
func (l *folderLock) Hold() (renewed bool, err error) {
	mine, err := identifyOpen(l.file)
	if err != nil {
		return false, err
	}
	there, err := identify(l.name)
	switch {
	case err == nil && there == mine:
		return false, nil
	case err != nil && !missing(err):
		return false, err
	case l.sole:
		return false, fmt.Errorf("the lock file %s was removed or replaced, so another process may have the journal",
			l.name)
	}
	f, err := l.take(os.O_CREATE)
	if err != nil {
		return false, fmt.Errorf("the lock file %s was removed or replaced: %w", l.name, err)
	}
	l.file.Close()
	l.file = f
	return true, nil
}

// Folder implements Lock.
func (l *folderLock) Folder() FS { return folderFS{dir: filepath.Dir(l.name), conn: l.conn} }

// SyncDir implements Lock.
func (l *folderLock) SyncDir() error { return l.dir.Sync() }

func (l *folderLock) Close() error {
	var errs []error
	for _, f := range []*os.File{l.file, l.dir} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// processIn reads who holds a lock.
func processIn(name string) string {
	if f, err := openRegular(name, os.O_RDONLY); err == nil {
		defer f.Close()
		if pid, err := io.ReadAll(io.LimitReader(f, 20)); err == nil && len(pid) > 0 {
			return "process " + strings.TrimSpace(string(pid))
		}
	}
	return "unknown process"
}

// lockHolder says who holds a lock, or that of its folder, without leaving a trace; empty when nobody does.
func lockHolder(name string) (string, error) {
	for _, at := range []string{filepath.Dir(name), name} {
		held, err := isLocked(at)
		if err != nil {
			return "", err
		}
		if held {
			return processIn(name), nil
		}
	}
	return "", nil
}

func isLocked(name string) (bool, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|dontWait, 0) // a folder, too
	if missing(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close() // gives a lock back, too
	err = retried(func() error { return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) })
	return errors.Is(err, unix.EWOULDBLOCK), nil // another error: it cannot be locked at all
}
