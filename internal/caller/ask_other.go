//go:build !linux

package caller

import (
	"fmt"
	"net/netip"
	"runtime"
	"syscall"
)

// Supported tells whether this system is asked at all.
const Supported = false

func ownerOf(netip.AddrPort, netip.AddrPort) (uint32, error) { return unasked() }

func ownerOfSocket(syscall.Conn) (uint32, error) { return unasked() }

func unasked() (uint32, error) { return 0, fmt.Errorf("%w: %s is not asked", ErrUnknown, runtime.GOOS) }
