// Package branch lets several servers have the connections of one listener, each those that begin as its protocol does.
// Who accepts them reads how they begin, and hands them over:
//
//	rest := branch.New(l.Addr(), closed)
//	go web.Serve(rest)
//	…
//	if !rest.Hand(branch.Begun(conn, read)) {
//		conn.Close() // it was closed meanwhile
//	}
package branch

import "net"

// Listener is what one of the servers listens on. It may be used by several goroutines at once.
type Listener struct {
	addr   net.Addr
	conns  chan net.Conn
	closed <-chan struct{}
}

// New makes a listener that is said to be at addr and ends when closed does.
func New(addr net.Addr, closed <-chan struct{}) *Listener {
	return &Listener{addr: addr, conns: make(chan net.Conn), closed: closed}
}

// Hand waits until the server takes a connection; it is the server's then. False: the listener has ended, and the
// connection is still the caller's.
func (l *Listener) Hand(c net.Conn) bool {
	select {
	case l.conns <- c:
		return true
	case <-l.closed:
		return false
	}
}

// Accept implements net.Listener. After the end it gives net.ErrClosed.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener and does nothing: all branches end together, by what New was given.
func (l *Listener) Close() error { return nil }

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return l.addr }

// Begun is a connection of which read has been read: whoever reads from it next gets that first. The bytes are its own
// from then on.
func Begun(c net.Conn, read []byte) net.Conn { return &begun{c, read} }

type begun struct {
	net.Conn
	read []byte
}

// Read implements net.Conn.
func (b *begun) Read(p []byte) (int, error) {
	if len(b.read) > 0 {
		n := copy(p, b.read)
		b.read = b.read[n:]
		return n, nil
	}
	return b.Conn.Read(p)
}

// Leaving is a connection that calls leave when it has been closed, each time: for the place that it had.
func Leaving(c net.Conn, leave func()) net.Conn { return &leaving{c, leave} }

type leaving struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (l *leaving) Close() error {
	defer l.leave()
	return l.Conn.Close()
}
