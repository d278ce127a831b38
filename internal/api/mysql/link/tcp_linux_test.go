package link_test

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/api/mysql/link"
)

// TestADeadNetworkEndsAConnectionInAMinute asks the system what it was told for an accepted connection: the Conn itself
// hides it, so the test listens beside the listener for its sockets.
func TestADeadNetworkEndsAConnectionInAMinute(t *testing.T) {
	l := listen(t, link.Config{TCP: "127.0.0.1:0"})
	client, _ := pair(t, l, 0)
	fd := descriptorTo(t, client.LocalAddr().(*net.TCPAddr).Port)
	for _, c := range []struct {
		name          string
		level, option int
		want          int
	}{
		{"SO_KEEPALIVE", unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		{"TCP_KEEPIDLE", unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 30},
		{"TCP_KEEPINTVL", unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 10},
		{"TCP_KEEPCNT", unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 3},
		{"TCP_USER_TIMEOUT", unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 60_000},
		{"TCP_NODELAY", unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
	} {
		if got, err := unix.GetsockoptInt(fd, c.level, c.option); err != nil || got != c.want {
			t.Errorf("%s is %d, not %d: %v", c.name, got, c.want, err)
		}
	}
}

// descriptorTo finds this process's descriptor of the connection whose other end is that port of this machine.
func descriptorTo(t *testing.T, port int) int {
	t.Helper()
	for fd := range 1024 {
		if peer, err := unix.Getpeername(fd); err == nil {
			if addr, ok := peer.(*unix.SockaddrInet4); ok && addr.Port == port {
				return fd
			}
		}
	}
	t.Fatal("the connection has no descriptor")
	return -1
}
