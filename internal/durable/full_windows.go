package durable

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

// Full says that err means there is no room: the disk is full, or the account has its quota.
func Full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, windows.ERROR_DISK_FULL) ||
		errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
