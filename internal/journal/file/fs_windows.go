package file

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/windows"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// syncDir does nothing: the file system keeps names durable by itself and has no call for it.
func syncDir(string) error { return nil }

func lockFile(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	// The lock lies beyond the text, so that others can read who holds it.
	at := &windows.Overlapped{Offset: 1 << 20}
	if err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, at); err != nil {
		defer f.Close()
		pid, _ := io.ReadAll(io.LimitReader(f, 20))
		return nil, fmt.Errorf("%w: folder %s, process %s", journal.ErrLocked, filepath.Dir(name), pid)
	}
	if _, err := f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// lockHolder says who holds a lock, without leaving a trace; empty when nobody does.
func lockHolder(name string) (string, error) {
	f, err := os.Open(name)
	if missing(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close() // gives a lock back, too
	at := &windows.Overlapped{Offset: 1 << 20}
	if err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at); err != nil {
		pid, _ := io.ReadAll(io.LimitReader(f, 20))
		return "process " + string(pid), nil
	}
	return "", nil
}

// fullError says that err means there is no room.
func fullError(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
