//go:build unix

package file

import (
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// folderFS are the files of a folder that is open: whatever its path leads to meanwhile, nothing is looked for, made or
// removed anywhere else. What else a name may lead to is the operating system's.
type folderFS struct {
	osFS
	dir  string // the path that led to it
	conn syscall.RawConn
}

// at calls a function with the folder's handle and the name of a file in it.
func (f folderFS) at(op, name string, call func(dir int, base string) error) error {
	var err error
	if err2 := f.conn.Control(func(dir uintptr) {
		err = retried(func() error { return call(int(dir), filepath.Base(name)) })
	}); err2 != nil {
		return err2
	}
	if err != nil {
		return &os.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

func (f folderFS) open(name string, flag int) (*os.File, error) {
	var fd int
	err := f.at("open", name, func(dir int, base string) (err error) {
		fd, err = unix.Openat(dir, base, flag|unix.O_CLOEXEC, 0o600)
		return err
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (f folderFS) Create(name string) (File, error) {
	made, err := f.open(name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL)
	if err != nil {
		return nil, err
	}
	return osFile{made}, nil
}

func (f folderFS) Open(name string, readOnly bool) (File, error) {
	flag := unix.O_RDWR
	if readOnly {
		flag = unix.O_RDONLY
	}
	opened, err := f.open(name, flag|dontWait)
	if err == nil {
		opened, err = regular(opened)
	}
	if err != nil {
		return nil, err
	}
	return osFile{opened}, nil
}

func (f folderFS) Rename(old, new string) error {
	return f.at("rename", old, func(dir int, base string) error {
		return unix.Renameat(dir, base, dir, filepath.Base(new))
	})
}

func (f folderFS) Remove(name string) error {
	return f.at("remove", name, func(dir int, base string) error { return unix.Unlinkat(dir, base, 0) })
}

// Identify is by the path for the folder itself: whoever asks wants to know whether it is still there.
func (f folderFS) Identify(name string) (ID, error) {
	if filepath.Clean(name) == filepath.Clean(f.dir) {
		return identify(name)
	}
	var st unix.Stat_t
	err := f.at("stat", name, func(dir int, base string) error { return unix.Fstatat(dir, base, &st, 0) })
	if err != nil {
		return nil, err
	}
	return inode{uint64(st.Dev), st.Ino}, nil //nolint:unconvert // Dev has other types elsewhere
}
