package pubsub

import (
	"encoding/binary"
	"net"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/door"
)

// framed is a listener whose connections speak HTTP/2, and end when a frame, or a header that is sent in several, is not complete in time.
// Signs of life do not find a client that sends a byte now and then.
func framed(l net.Listener) net.Listener { return &framedListener{l} }

type framedListener struct{ net.Listener }

// Accept implements net.Listener.
func (l *framedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &framedConn{Conn: c, frames: frames{left: len(preface)}}, nil
}

// What is known of HTTP/2 here (RFC 9113, 3.4 and 4.1).
const (
	preface      = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	frameHeader  = 9
	typeHeaders  = 1
	typeContinue = 9
	endHeaders   = 4 // a flag of both
)

// frameRate is how many bytes a second of a frame have to come at least, beside door.HeaderTime.
const frameRate = 32 << 10

// frames follows where in a stream of frames a connection is.
type frames struct {
	head [frameHeader]byte
	got  int  // of head
	left int  // of the preface or of a frame's payload
	open bool // a header goes on in the next frame
}

// read goes on by what was read. partial tells that something has begun and is not complete, ended that something was completed.
func (f *frames) read(b []byte) (partial, ended bool) {
	for len(b) > 0 {
		if f.left > 0 {
			n := min(f.left, len(b))
			f.left, b = f.left-n, b[n:]
			ended = ended || f.left == 0 && !f.open
			continue
		}
		n := copy(f.head[f.got:], b)
		f.got, b = f.got+n, b[n:]
		if f.got < frameHeader {
			break
		}
		f.got = 0
		f.left = int(binary.BigEndian.Uint32(f.head[:4]) >> 8)
		if kind := f.head[3]; kind == typeHeaders || kind == typeContinue {
			f.open = f.head[4]&endHeaders == 0
		}
		ended = ended || f.left == 0 && !f.open
	}
	return f.left > 0 || f.got > 0 || f.open, ended
}

// framedConn is a connection with the time of a frame.
type framedConn struct {
	net.Conn
	frames frames
	timed  bool // a deadline of ours holds

	mu  sync.Mutex
	end time.Time // for reading, as set from outside; zero: none
}

// Read implements net.Conn.
func (c *framedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	partial, ended := c.frames.read(b[:n])
	if partial && (!c.timed || ended) {
		c.timed = true
		c.deadline(time.Now().Add(door.HeaderTime + time.Duration(c.frames.left)*time.Second/frameRate))
	} else if !partial && c.timed {
		c.timed = false
		c.deadline(time.Time{})
	}
	return n, err
}

// deadline sets ours beside that from outside.
func (c *framedConn) deadline(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.IsZero() || !c.end.IsZero() && c.end.Before(t) {
		t = c.end
	}
	_ = c.Conn.SetReadDeadline(t) // fails only on a closed connection, which the next Read tells
}

// SetReadDeadline implements net.Conn.
func (c *framedConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end = t
	return c.Conn.SetReadDeadline(t)
}

// SetDeadline implements net.Conn.
func (c *framedConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}
