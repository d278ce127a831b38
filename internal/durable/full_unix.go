//go:build unix

package durable

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Full says that err means there is no room: the disk is full, or the account has its quota.
func Full(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}
