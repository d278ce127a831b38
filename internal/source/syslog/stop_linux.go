package syslog

import (
	"net"
	"syscall"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Where the flags of a segment of TCP are, and two of them (RFC 9293, 3.1).
const (
	flagsAt = 13
	flagSYN = 0x02
	flagACK = 0x10
)

// opening keeps from a listener the segments that open a connection, and lets pass those that complete one.
var opening = []bpf.Instruction{
	bpf.LoadAbsolute{Off: flagsAt, Size: 1},
	bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: flagSYN | flagACK},
	bpf.JumpIf{Cond: bpf.JumpEqual, Val: flagSYN, SkipFalse: 1},
	bpf.RetConstant{Val: 0},
	bpf.RetConstant{Val: 1 << 16},
}

// openNoMore has the kernel open no more connections for a listener, which completes and gives those that are. Without
// that one more can be open at the moment of Close, which breaks it off, with what its sender has written already. A
// sender that comes now asks again after a second.
func openNoMore(l *net.TCPListener) error {
	raw, err := bpf.Assemble(opening)
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	conn, err := l.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	if err := conn.Control(func(fd uintptr) {
		set = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
			&unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})
	}); err != nil {
		return err
	}
	return set
}

// waits tells whether the kernel has a connection, or something to read. An end of time is told before that is looked
// at.
func waits(c syscall.Conn) (yes bool) {
	conn, err := c.SyscallConn()
	if err != nil {
		return false // it is closed
	}
	_ = conn.Control(func(fd uintptr) { // false where it is closed
		n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		yes = n > 0
	})
	return yes
}

// unread is how many bytes of a connection the kernel has taken and nobody has read.
func unread(c *net.TCPConn) (n int) {
	conn, err := c.SyscallConn()
	if err != nil {
		return 0 // it is closed
	}
	_ = conn.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }) // 0 where it is closed
	return n
}
