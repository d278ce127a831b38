//go:build !linux

package syslog

import (
	"net"
	"syscall"
)

// openNoMore does nothing where the kernel cannot be told: a connection that is open at the moment of Close is broken
// off, with what its sender has written already.
func openNoMore(*net.TCPListener) error { return nil }

// waits tells whether the kernel has a connection, or something to read, as far as is known.
func waits(syscall.Conn) bool { return false }

// unread is how many bytes of a connection the kernel has taken and nobody has read, as far as is known.
func unread(*net.TCPConn) int { return 0 }
