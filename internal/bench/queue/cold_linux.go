package queue

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// evict writes what is left of a file to the disk and makes the system forget its contents.
func evict(name string) (err error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("evict a file from the system's cache: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Sync(); err != nil { // only what is on the disk can be forgotten
		return fmt.Errorf("evict a file from the system's cache: %w", err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return fmt.Errorf("evict %s from the system's cache: %w", name, err)
	}
	return nil
}

// cached tells whether the beginning of a file can be read without the disk; known is false where the file system does
// not say.
func cached(name string) (yes, known bool) {
	f, err := os.Open(name)
	if err != nil {
		return false, false
	}
	defer f.Close()
	_, err = unix.Preadv2(int(f.Fd()), [][]byte{make([]byte, 1)}, 0, unix.RWF_NOWAIT)
	return err == nil, err == nil || errors.Is(err, unix.EAGAIN)
}
