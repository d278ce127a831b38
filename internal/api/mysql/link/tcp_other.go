//go:build !linux

package link

import (
	"syscall"
	"time"
)

// giveUpAfter does nothing: other systems have no such option that a listener hands on.
func giveUpAfter(time.Duration) func(string, string, syscall.RawConn) error { return nil }
