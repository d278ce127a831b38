package file

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// fileLock is a lock of a file that nobody can remove or rename while it is open, nor the folder that it is in.
type fileLock struct{ *os.File }

// Hold implements Lock.
func (fileLock) Hold() (renewed bool, err error) { return false, nil }

// Folder implements Lock.
func (fileLock) Folder() FS { return osFS{} }

// SyncDir implements Lock.
func (fileLock) SyncDir() error { return nil }

func lockFile(name string) (Lock, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
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
	return fileLock{f}, nil
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

// dontWait is nothing here: no name in a folder has to be waited for.
const dontWait = 0

// renamesOpen says that a file can be renamed while it is open.
const renamesOpen = false

// outOfHandles says that err means that this process, or the machine, may have no more files open.
func outOfHandles(err error) bool { return errors.Is(err, windows.ERROR_TOO_MANY_OPEN_FILES) }

// fileIndex is what a file or folder is known by: no two that exist at one time share it.
type fileIndex struct {
	volume uint32
	file   uint64
}

func identify(name string) (ID, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	h, err := windows.CreateFile(path, 0, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil,
		windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0) // a folder, too
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	defer windows.CloseHandle(h) //nolint:errcheck // it was opened for nothing but to look
	return indexOf(h)
}

func identifyOpen(f *os.File) (ID, error) { return indexOf(windows.Handle(f.Fd())) }

func indexOf(h windows.Handle) (ID, error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &info); err != nil {
		return nil, os.NewSyscallError("GetFileInformationByHandle", err)
	}
	return fileIndex{info.VolumeSerialNumber, uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)}, nil
}
