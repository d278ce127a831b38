package door

import (
	"net"
	"sync"
	"time"
)

// Stalling is a listener whose connections end when a client takes none of an answer: each StallBytes of a write have
// to be taken within StallTime. Deadlines that are set from outside hold beside it.
func Stalling(l net.Listener) net.Listener { return &stalling{l} }

type stalling struct{ net.Listener }

// Accept implements net.Listener.
func (l *stalling) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &stallConn{Conn: c}, nil
}

type stallConn struct {
	net.Conn
	mu  sync.Mutex
	end time.Time // as set from outside; zero: none
}

// Write implements net.Conn.
func (c *stallConn) Write(b []byte) (written int, err error) {
	for {
		if err := c.hurry(); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(b[written:min(written+StallBytes, len(b))])
		written += n
		if err != nil || written >= len(b) {
			return written, err
		}
	}
}

func (c *stallConn) hurry() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	end := time.Now().Add(StallTime)
	if !c.end.IsZero() && c.end.Before(end) {
		end = c.end
	}
	return c.Conn.SetWriteDeadline(end)
}

// SetWriteDeadline implements net.Conn.
func (c *stallConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end = t
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline implements net.Conn.
func (c *stallConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}
