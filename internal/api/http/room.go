package http

import (
	"net"
	"sync"
	"sync/atomic"
)

// room counts bytes that are in use against a bound.
type room struct {
	limit int64
	used  atomic.Int64
}

// take takes n bytes if there are so many left.
func (r *room) take(n int64) bool {
	if r.used.Add(n) > r.limit {
		r.used.Add(-n)
		return false
	}
	return true
}

func (r *room) give(n int64) { r.used.Add(-n) }

// boundedListener accepts a connection only when fewer than a number of them are open.
type boundedListener struct {
	net.Listener
	free   chan struct{} // one for each connection that may be open
	closed chan struct{}
	once   sync.Once
}

func bound(l net.Listener, n int) net.Listener {
	return &boundedListener{Listener: l, free: make(chan struct{}, n), closed: make(chan struct{})}
}

func (l *boundedListener) Accept() (net.Conn, error) {
	select {
	case l.free <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.free
		return nil, err
	}
	return &boundedConn{Conn: c, release: sync.OnceFunc(func() { <-l.free })}, nil
}

func (l *boundedListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type boundedConn struct {
	net.Conn
	release func()
}

func (c *boundedConn) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}
