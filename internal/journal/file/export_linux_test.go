package file

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// DropFromCache takes a file out of the page cache.
func DropFromCache(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close())
}
