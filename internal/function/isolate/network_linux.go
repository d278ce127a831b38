//go:build amd64 || arm64

package isolate

import (
	"fmt"
	"net"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ifreq is the kernel's structure of that name, as far as it holds flags.
type ifreq struct {
	name  [unix.IFNAMSIZ]byte
	flags uint16
	_     [22]byte
}

// loopback adds to a script what makes a network of its own reach itself.
func (s *script) loopback() {
	up := ifreq{flags: unix.IFF_UP | unix.IFF_RUNNING | unix.IFF_LOOPBACK}
	copy(up.name[:], "lo")
	s.call("open a socket", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0).keep = true
	s.call("have a loopback interface", unix.SYS_IOCTL, 0, unix.SIOCSIFFLAGS, point(s, up)).saved = 1
}

// handed is where a child has what it hands over: a number that none of our files has by chance in that child alone, as
// it has a table of its own.
const handed = 1000

// Listen listens on a port of 127.0.0.1 that the system chooses, in the room's network: only who is in the room can
// connect. It is for the thread of its Ways.
func (r *Room) Listen() (net.Listener, error) {
	fail := func(err error) (net.Listener, error) {
		return nil, fmt.Errorf("listen in the network of a function: %w", err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fail(err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	s := &script{}
	flags := uintptr(unix.CLONE_NEWNET)
	if r.ways.mapped {
		flags |= unix.CLONE_NEWUSER
	}
	s.call("enter its network", unix.SYS_SETNS, uintptr(r.pidfd), flags)
	s.call("open a socket", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK,
		0).keep = true
	at := unix.RawSockaddrInet4{Family: unix.AF_INET, Addr: [4]byte{127, 0, 0, 1}}
	s.call("bind it", unix.SYS_BIND, 0, point(s, at), unsafe.Sizeof(at)).saved = 1
	s.call("listen", unix.SYS_LISTEN, 0, 128).saved = 1
	s.call("hand it over", unix.SYS_DUP3, 0, handed, unix.O_CLOEXEC).saved = 1
	s.handOver(pair[1])
	pid, err := s.clone(0, 0)
	if err != nil {
		return fail(err)
	}
	reap(pid)
	fd, err := received(pair[0])
	if err != nil {
		return fail(err)
	}
	f := os.NewFile(uintptr(fd), "listener")
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return fail(err)
	}
	return l, nil
}

// handOver adds to a script that the file handed is sent through a socket.
func (s *script) handOver(through int) {
	rights := unix.UnixRights(handed)
	data := []byte{0}
	iov := &unix.Iovec{Base: &data[0], Len: 1}
	s.hold = append(s.hold, rights, data, iov)
	m := unix.Msghdr{Iov: iov, Iovlen: 1, Control: &rights[0], Controllen: uint64(len(rights))}
	s.call("hand it over", unix.SYS_SENDMSG, uintptr(through), point(s, m), 0)
}

// received is the file that was sent through a socket.
func received(from int) (int, error) {
	data, control := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(from, data, control, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return 0, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) != 1 {
		return 0, fmt.Errorf("%d messages came, %w", len(messages), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return 0, fmt.Errorf("%d files came, %w", len(fds), err)
	}
	return fds[0], nil
}
