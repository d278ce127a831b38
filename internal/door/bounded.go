package door

import (
	"net"
	"sync"
)

// bounded is a listener with so many connections at most: others wait.
type bounded struct {
	net.Listener
	free   chan struct{}
	closed chan struct{}
	once   sync.Once
}

func bound(l net.Listener, most int) *bounded {
	return &bounded{Listener: l, free: make(chan struct{}, most), closed: make(chan struct{})}
}

// Accept implements net.Listener.
func (b *bounded) Accept() (net.Conn, error) {
	select {
	case b.free <- struct{}{}:
	case <-b.closed:
		return nil, net.ErrClosed
	}
	c, err := b.Listener.Accept()
	if err != nil {
		<-b.free
		return nil, err
	}
	return &guest{Conn: c, leave: sync.OnceFunc(func() { <-b.free })}, nil
}

// Close implements net.Listener.
func (b *bounded) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.Listener.Close()
}

// guest is a connection that gives its place back when it is closed.
type guest struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (g *guest) Close() error {
	defer g.leave()
	return g.Conn.Close()
}
