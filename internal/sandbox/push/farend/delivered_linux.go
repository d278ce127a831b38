package farend

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// waitDelivered waits until the client's kernel has acknowledged everything that was written, for at most a second: a
// reset takes away what has not arrived.
func waitDelivered(tcp *net.TCPConn, over <-chan struct{}) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return
	}
	for range 1000 {
		left := 0
		if err := raw.Control(func(fd uintptr) { left, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) }); err != nil ||
			left == 0 {
			return
		}
		select {
		case <-time.After(time.Millisecond): // the kernel tells nobody
		case <-over:
			return
		}
	}
}
