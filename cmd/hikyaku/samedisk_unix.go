//go:build unix

package main

import (
	"os"
	"syscall"
)

// diskOf tells disks apart: a folder can be renamed within one.
func diskOf(path string) (disk uint64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		disk = uint64(st.Dev)
	}
	return disk, nil
}
