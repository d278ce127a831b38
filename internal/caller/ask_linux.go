package caller

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// Supported tells whether this system is asked at all.
const Supported = true

// ownerOf asks whose the socket is that is bound to own and connected to peer.
func ownerOf(own, peer netip.AddrPort) (uint32, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return 0, fmt.Errorf("%w: ask it (NETLINK_SOCK_DIAG): %w", ErrUnknown, err)
	}
	defer unix.Close(fd)
	// The answer is there when the question was sent; the time is for a kernel that has it otherwise.
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if err := unix.Sendto(fd, question(own, peer), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, fmt.Errorf("%w: ask it (NETLINK_SOCK_DIAG): %w", ErrUnknown, err)
	}
	var answer [8 << 10]byte
	for {
		n, from, err := unix.Recvfrom(fd, answer[:], 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("%w: its answer: %w", ErrUnknown, err)
		}
		if kernel, ok := from.(*unix.SockaddrNetlink); !ok || kernel.Pid != 0 {
			continue // another process's
		}
		return parse(answer[:n], own, peer)
	}
}

// ownerOfSocket asks who connected to a socket in the file system.
func ownerOfSocket(c syscall.Conn) (uint32, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	var who *unix.Ucred
	if ctl := raw.Control(func(fd uintptr) {
		who,
			err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); ctl != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnknown, ctl)
	}
	if err != nil {
		return 0, fmt.Errorf("%w: SO_PEERCRED: %w", ErrUnknown, err)
	}
	return who.Uid, nil
}

// The messages of linux/netlink.h and linux/inet_diag.h: a header of 16 bytes, then a request of 56 bytes, or an answer
// of 72. Both have the socket's id, of 48 bytes.
const (
	headerBytes  = 16
	requestBytes = 56
	answerBytes  = 72
	idBytes      = 48
	byFamily     = 20 // SOCK_DIAG_BY_FAMILY
	established  = 1  // TCP_ESTABLISHED
)

// question asks for the one socket that is bound to own and connected to peer.
func question(own, peer netip.AddrPort) []byte {
	b := make([]byte, headerBytes+requestBytes)
	binary.NativeEndian.PutUint32(b, uint32(len(b)))
	binary.NativeEndian.PutUint16(b[4:], byFamily)
	binary.NativeEndian.PutUint16(b[6:], unix.NLM_F_REQUEST)
	req := b[headerBytes:]
	req[0] = unix.AF_INET6
	if own.Addr().Is4() {
		req[0] = unix.AF_INET
	}
	req[1] = unix.IPPROTO_TCP
	binary.NativeEndian.PutUint32(req[4:], 1<<established)
	id := req[8:]
	binary.BigEndian.PutUint16(id, own.Port())
	binary.BigEndian.PutUint16(id[2:], peer.Port())
	copy(id[4:20], own.Addr().AsSlice())
	copy(id[20:36], peer.Addr().AsSlice())
	for i := idBytes - 8; i < idBytes; i++ {
		id[i] = 0xff // INET_DIAG_NOCOOKIE
	}
	return b
}

// parse reads the answer. Where there is no such connection the kernel tells of a listener at that address, which is
// somebody else's: so the answer has to be of an established connection between these very addresses. One without an
// inode has no process any more, and its user id says nothing.
func parse(b []byte, own, peer netip.AddrPort) (uint32, error) {
	if len(b) < headerBytes {
		return 0, fmt.Errorf("%w: its answer has %d bytes", ErrUnknown, len(b))
	}
	length := binary.NativeEndian.Uint32(b)
	if uint64(length) > uint64(len(b)) || length < headerBytes {
		return 0, fmt.Errorf("%w: its answer of %d bytes says that it has %d", ErrUnknown, len(b), length)
	}
	kind, b := binary.NativeEndian.Uint16(b[4:]), b[headerBytes:length]
	switch {
	case kind == unix.NLMSG_ERROR && len(b) >= 4:
		errno := syscall.Errno(-int32(binary.NativeEndian.Uint32(b)))
		if errno == syscall.ENOENT {
			return 0, fmt.Errorf("%w: it knows no connection from %s to %s in this network namespace", ErrUnknown, own,
				peer)
		}
		return 0, fmt.Errorf("%w: NETLINK_SOCK_DIAG: %w", ErrUnknown, errno)
	case kind != byFamily || len(b) < answerBytes:
		return 0, fmt.Errorf("%w: its answer is of type %d and has %d bytes", ErrUnknown, kind, len(b))
	}
	if b[1] != established {
		return 0, fmt.Errorf("%w: its other end is closed, or half of it", ErrUnknown)
	}
	if have, to := address(b[0], b[4:], 0), address(b[0], b[4:], 1); have != own || to != peer {
		return 0, fmt.Errorf("%w: it tells of another one, from %s to %s", ErrUnknown, have, to)
	}
	uid, inode := binary.NativeEndian.Uint32(b[64:]), binary.NativeEndian.Uint32(b[68:])
	if inode == 0 {
		return 0, fmt.Errorf("%w: no process has its other end any more", ErrUnknown)
	}
	return uid, nil
}

// address is the first or the second one of a socket's id.
func address(family byte, id []byte, which int) netip.AddrPort {
	port := binary.BigEndian.Uint16(id[2*which:])
	raw := id[4+16*which:][:16]
	switch family {
	case unix.AF_INET:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(raw[:4])), port)
	case unix.AF_INET6:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(raw)).Unmap(), port)
	}
	return netip.AddrPort{}
}
