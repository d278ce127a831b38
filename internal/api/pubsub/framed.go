package pubsub

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/door"
)

// framed is a listener whose connections speak HTTP/2, and end when a frame, or a header that is sent in several, is
// not complete in time. Signs of life do not find a client that sends a byte now and then. What they hold, themselves
// and by their streams, is taken of an account; one for which there is no room is closed.
func framed(l net.Listener, of *door.Busy) *framedListener {
	return &framedListener{Listener: l, of: of, open: map[*framedConn]struct{}{}}
}

type framedListener struct {
	net.Listener
	of *door.Busy

	mu   sync.Mutex
	open map[*framedConn]struct{}
}

// Accept implements net.Listener.
func (l *framedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		conn := newFramedConn(c, l.of)
		if !conn.standing.short.Load() {
			l.add(conn)
			return conn, nil
		}
		_ = conn.Close() // nobody has been answered
	}
}

func (l *framedListener) add(c *framedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.of = l
	l.open[c] = struct{}{}
}

func (l *framedListener) forget(c *framedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// cut closes the connections on which no call is open. GracefulStop of gRPC asks each client whether it has seen that
// the server stops, and waits five seconds for one that does not answer.
func (l *framedListener) cut() {
	l.mu.Lock()
	var idle []*framedConn
	for c := range l.open {
		if c.standing.idle() {
			idle = append(idle, c)
		}
	}
	l.mu.Unlock()
	var closing sync.WaitGroup
	for _, c := range idle { // which takes TLS a while where a client reads nothing
		closing.Go(func() { _ = c.Close() })
	}
	closing.Wait()
}

func newFramedConn(c net.Conn, of *door.Busy) *framedConn {
	conn := &framedConn{Conn: c, frames: frames{left: len(preface)}, standing: newStanding(of)}
	conn.frames.reset, conn.frames.header, conn.frames.data = conn.ended, conn.standing.header, conn.data
	conn.frames.whole = true
	conn.written.reset, conn.written.last = conn.closed, conn.standing.closed
	return conn
}

// What is known of HTTP/2 here (RFC 9113, 3.4 and 4.1).
const (
	preface      = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	frameHeader  = 9
	typeData     = 0
	typeHeaders  = 1
	typeReset    = 3
	typeWindow   = 8
	typeContinue = 9
	endHeaders   = 4 // a flag of headers and what continues them
	endStream    = 1 // a flag of headers and data
	padded       = 8 // a flag of headers and data
	resetLength  = 4 // of the payload of a reset, and of a window's
)

// frameRate is how many bytes a second of a frame have to come at least, beside door.HeaderTime.
const frameRate = 32 << 10

// frames follows where in a stream of frames a connection is.
type frames struct {
	head [frameHeader]byte
	got  int  // of head
	left int  // of the preface or of a frame's payload
	open bool // a header goes on in the next frame

	// What is called, where somebody asks: for each frame of a header, for each of data, with whether it ends its
	// stream, for each header that ends its stream, and for each stream that is ended before its time, with its frame.
	header func(stream uint32, n int64, first bool)
	data   func(stream uint32, n int, last bool)
	last   func(stream uint32)
	reset  func(stream uint32, frame []byte)
	whole  bool // a frame's header, and a reset, is whole in what is read: what is not comes again, got bytes of it
}

// read goes on by what was read. partial tells that something has begun and is not complete, ended that something was
// completed.
func (f *frames) read(b []byte) (partial, ended bool) {
	for len(b) > 0 {
		if f.left > 0 {
			n := min(f.left, len(b))
			f.left, b = f.left-n, b[n:]
			ended = ended || f.left == 0 && !f.open
			continue
		}
		frame := b
		n := copy(f.head[f.got:], b)
		f.got, b = f.got+n, b[n:]
		if f.got < frameHeader {
			break
		}
		f.got = 0
		f.left = int(binary.BigEndian.Uint32(f.head[:4]) >> 8)
		stream := binary.BigEndian.Uint32(f.head[5:]) & (1<<31 - 1)
		switch kind := f.head[3]; kind {
		case typeHeaders, typeContinue:
			f.open = f.head[4]&endHeaders == 0
			if f.header != nil {
				f.header(stream, int64(f.left), kind == typeHeaders)
			}
			if f.last != nil && kind == typeHeaders && f.head[4]&endStream != 0 {
				f.last(stream)
			}
		case typeData:
			if f.data != nil {
				f.data(stream, f.left, f.head[4]&endStream != 0)
			}
		case typeReset:
			if f.whole && f.left == resetLength && len(b) < resetLength {
				f.got, f.left = frameHeader+len(b), 0
				return true, ended
			}
			if f.reset != nil {
				f.reset(stream, frame)
			}
		}
		ended = ended || f.left == 0 && !f.open
	}
	return f.left > 0 || f.got > 0 || f.open, ended
}

// framedConn is a connection with the time of a frame.
type framedConn struct {
	net.Conn
	frames  frames // of the client
	kept    []byte // the beginning of a frame, which gRPC has not seen
	small   []byte // what gRPC has not seen, because it asked for less than a frame's beginning
	timed   bool   // a deadline of ours holds
	shreds  error  // what came in tiny frames has no room
	written frames // of ours

	standing *standing
	of       *framedListener // nil: it is in no list

	deadlines sync.Mutex
	end       time.Time // for reading, as set from outside; zero: none
	own       time.Time // that of the frame; gRPC sets its own after the first frames have been read
	up        bool      // who reads is woken
	goodbyes
}

// ended is told that the client has ended a stream, before gRPC reads the frame.
func (c *framedConn) ended(stream uint32, frame []byte) {
	if !c.cut(stream, frame) {
		c.standing.closed(stream)
	}
}

// closed is told that we have ended a stream.
func (c *framedConn) closed(stream uint32, _ []byte) { c.standing.closed(stream) }

// tinyFrame is the length below which a frame of data takes more than what it holds counts as.
const tinyFrame = 16

// data is told of a frame of data, before gRPC reads it.
func (c *framedConn) data(stream uint32, n int, last bool) {
	if last {
		c.halfClosed(stream)
		return
	}
	if (n < tinyFrame || c.standing.indebted.Load()) && !c.standing.data(stream, n < tinyFrame, time.Now()) {
		c.shreds = fmt.Errorf("%w: messages come in frames of a few bytes each", door.ErrBusy)
	}
}

// smallRead is how much is read at once at least: a frame's header and a reset fit.
const smallRead = 512

// Read implements net.Conn.
func (c *framedConn) Read(b []byte) (int, error) {
	for {
		if len(c.small) > 0 {
			n := copy(b, c.small)
			c.small = c.small[n:]
			return n, nil
		}
		room := b
		if len(b) < smallRead {
			room = make([]byte, smallRead)
		}
		n, err := c.read(room)
		if n > 0 && len(b) < smallRead {
			c.small, n = room[:n], 0
		}
		if n > 0 || err != nil && len(c.small) == 0 {
			return n, err
		}
	}
}

// read reads what gRPC may see: of a frame whose header, or a reset that, is not complete nothing yet. Nothing at all
// with no error: it was woken.
func (c *framedConn) read(b []byte) (int, error) {
	if c.frames.left == 0 && !c.frames.open {
		n, streams := c.takeResets(b)
		for _, stream := range streams {
			c.standing.closed(stream)
		}
		if n > 0 {
			return n, nil
		}
	}
	kept := copy(b, c.kept)
	n, err := c.Conn.Read(b[kept:])
	if errors.Is(err, os.ErrDeadlineExceeded) && c.sleep() {
		err = nil
	}
	n += kept
	c.frames.got = 0
	partial, ended := c.frames.read(b[:n])
	if c.shreds != nil {
		return 0, c.shreds
	}
	if partial && (!c.timed || ended) {
		c.timed = true
		c.deadline(time.Now().Add(door.HeaderTime + time.Duration(c.frames.left)*time.Second/frameRate))
	} else if !partial && c.timed {
		c.timed = false
		c.deadline(time.Time{})
	}
	c.kept = append(c.kept[:0], b[n-c.frames.got:n]...)
	n -= c.frames.got
	if n == 0 && err != nil && !partial {
		if n = c.lost(b, err); n > 0 {
			err = nil // gRPC would keep it, and read no more: the next time it waits
		}
	}
	return n, err
}

// Write implements net.Conn.
func (c *framedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.read(b[:n])
	return n, err
}

// Close implements net.Conn.
func (c *framedConn) Close() error {
	defer c.standing.end()
	if c.of != nil {
		c.of.forget(c)
	}
	return c.Conn.Close()
}

// deadline sets ours beside that from outside.
func (c *framedConn) deadline(t time.Time) {
	c.deadlines.Lock()
	defer c.deadlines.Unlock()
	c.own = t
	_ = c.Conn.SetReadDeadline(c.sooner()) // fails only on a closed connection, which the next Read tells
}

// wake lets who reads look for resets.
func (c *framedConn) wake() {
	c.deadlines.Lock()
	defer c.deadlines.Unlock()
	c.up = true
	_ = c.Conn.SetReadDeadline(c.sooner())
}

// sleep tells whether who reads was woken, and no deadline has passed.
func (c *framedConn) sleep() bool {
	c.deadlines.Lock()
	defer c.deadlines.Unlock()
	woken := c.up
	c.up = false
	end := c.sooner()
	_ = c.Conn.SetReadDeadline(end)
	return woken && (end.IsZero() || time.Now().Before(end))
}

// sooner is the deadline that holds, of ours and that from outside.
func (c *framedConn) sooner() time.Time {
	if c.up {
		return time.Unix(1, 0)
	}
	if c.own.IsZero() || !c.end.IsZero() && c.end.Before(c.own) {
		return c.end
	}
	return c.own
}

// SetReadDeadline implements net.Conn.
func (c *framedConn) SetReadDeadline(t time.Time) error {
	c.deadlines.Lock()
	defer c.deadlines.Unlock()
	c.end = t
	return c.Conn.SetReadDeadline(c.sooner())
}

// SetDeadline implements net.Conn.
func (c *framedConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}
