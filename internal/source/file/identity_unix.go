//go:build unix

package file

import (
	"errors"
	"os"
	"syscall"
)

// identity is the operating system's name of an open or named file.
func identity(st os.FileInfo) (fileID, error) {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, errors.New("the file system has no inode numbers")
	}
	return fileID{uint64(sys.Dev), uint64(sys.Ino)}, nil
}
