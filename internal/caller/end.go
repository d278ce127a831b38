package caller

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
)

// ErrUnknown says that nobody tells which account is at the other end.
var ErrUnknown = errors.New("the kernel does not say whose connection it is")

// End is the other end of a connection. Its methods may be called from any goroutine.
type End struct {
	local, remote net.Addr
	raw           syscall.Conn // of a socket in the file system

	told, near bool // somebody else has said all that there is to say

	once sync.Once
	uid  uint32
	err  error
}

// Told is an End of which all is known: that of a connection which another node has accepted and passes on. near and
// account are what Near and Account say; err, if not nil, is why the account is not known.
func Told(near bool, account uint32, err error) *End {
	e := &End{told: true, near: near, uid: account, err: err}
	e.once.Do(func() {}) // nobody is asked
	return e
}

// Addr is the local address of a connection that knows its End: Of takes that, whatever is wrapped around the
// connection.
type Addr struct {
	net.Addr
	End *End
}

// Of is the other end of an accepted connection, also of one below TLS (NetConn) and other wrappers that keep its
// addresses. It asks nothing.
func Of(c net.Conn) *End {
	if a, ok := c.LocalAddr().(*Addr); ok {
		return a.End
	}
	e := &End{local: c.LocalAddr(), remote: c.RemoteAddr()}
	if e.local == nil || e.local.Network() != "unix" {
		return e
	}
	for {
		switch inner := c.(type) {
		case syscall.Conn:
			e.raw = inner
			return e
		case interface{ NetConn() net.Conn }:
			c = inner.NetConn()
		default:
			return e
		}
	}
}

// Near tells whether the connection was made to an address that only this machine has: loopback, or a socket in the
// file system. Where it comes from says nothing: a program of this machine may give any of the machine's addresses as
// its own.
func (e *End) Near() bool {
	if e != nil && e.told {
		return e.near
	}
	if e == nil || e.local == nil {
		return true // nothing is known, so it is not let off
	}
	if tcp, ok := e.local.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap().IsLoopback()
	}
	return true
}

// Account is the user id of the process that made the other end. It is asked for once: while the connection lives it
// does not change. Errors are ErrUnknown.
func (e *End) Account() (uid uint32, err error) {
	if e == nil {
		return 0, fmt.Errorf("%w: the connection is not known", ErrUnknown)
	}
	e.once.Do(func() { e.uid, e.err = e.ask() })
	return e.uid, e.err
}

func (e *End) ask() (uint32, error) {
	if e.raw != nil {
		return ownerOfSocket(e.raw)
	}
	local, ok := e.local.(*net.TCPAddr)
	remote, is := e.remote.(*net.TCPAddr)
	if !ok || !is {
		return 0, fmt.Errorf("%w: it is no TCP connection", ErrUnknown)
	}
	return ownerOf(plain(remote.AddrPort()), plain(local.AddrPort()))
}

// plain is an address without the disguises that it may have.
func plain(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

type key struct{}

// In makes a context that knows the other end of a connection, as http.Server.ConnContext wants it.
func In(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, key{}, Of(c))
}

// From is what In put into a context; nil: nothing.
func From(ctx context.Context) *End {
	e, _ := ctx.Value(key{}).(*End)
	return e
}

// Probe finds out whether the kernel tells whose connections are, by one to itself. nil: it does.
func Probe(ctx context.Context) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	defer l.Close()
	client, err := new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	defer server.Close()
	_, err = Of(server).Account()
	return err
}
