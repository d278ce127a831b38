package link

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// giveUpAfter makes the system end connections whose client does not acknowledge, or does not take, what was sent to it
// for that time. Keepalive sees only idle connections, and by itself the system goes on sending for a quarter of an
// hour. Accepted connections inherit it.
func giveUpAfter(d time.Duration) func(string, string, syscall.RawConn) error {
	if d < time.Millisecond {
		return nil
	}
	return func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) {
			failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds()))
		})
		if err != nil {
			return err
		}
		return os.NewSyscallError("setsockopt TCP_USER_TIMEOUT", failed)
	}
}
