//go:build unix

package stdin

import (
	"os"
	"syscall"
)

// number is the device and the inode of a file; zeros where the file system has none.
func number(st os.FileInfo) (device, inode uint64) {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		return uint64(sys.Dev), uint64(sys.Ino)
	}
	return 0, 0
}
