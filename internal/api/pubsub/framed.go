package pubsub

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

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
	conn.written.reset, conn.written.last = conn.standing.closed, conn.standing.closed
	return conn
}

// What is known of HTTP/2 here (RFC 9113, 3.4 and 4.1).
const (
	preface      = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	frameHeader  = 9
	typeData     = 0
	typeHeaders  = 1
	typeReset    = 3
	typeContinue = 9
	endHeaders   = 4 // a flag of headers and what continues them
	endStream    = 1 // a flag of headers and data
)

// frameRate is how many bytes a second of a frame have to come at least, beside door.HeaderTime.
const frameRate = 32 << 10

// frames follows where in a stream of frames a connection is.
type frames struct {
	head [frameHeader]byte
	got  int  // of head
	left int  // of the preface or of a frame's payload
	open bool // a header goes on in the next frame

	// What is called, where somebody asks: for each frame of a header, for each of data that does not end its stream,
	// for each header that ends its stream, and for each stream that is ended before its time.
	header func(stream uint32, n int64, first bool)
	data   func(stream uint32, n int)
	last   func(stream uint32)
	reset  func(stream uint32)
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
			if f.data != nil && f.head[4]&endStream == 0 {
				f.data(stream, f.left)
			}
		case typeReset:
			if f.reset != nil {
				f.reset(stream)
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
	timed   bool   // a deadline of ours holds
	shreds  error  // what came in tiny frames has no room
	written frames // of ours

	standing *standing
	of       *framedListener // nil: it is in no list

	mu  sync.Mutex
	end time.Time // for reading, as set from outside; zero: none
	own time.Time // that of the frame; gRPC sets its own after the first frames have been read
	// watched are streams, by their numbers on this connection, of which somebody wants to know whether the client
	// ended them.
	watched map[uint32]*goodbye
}

// goodbye is set when a stream's client has ended it. A connection that breaks sets none.
type goodbye struct{ said atomic.Bool }

// watch begins to look for the end of a stream. unwatch ends it.
func (c *framedConn) watch(stream uint32) *goodbye {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watched == nil {
		c.watched = map[uint32]*goodbye{}
	}
	g := &goodbye{}
	c.watched[stream] = g
	return g
}

func (c *framedConn) unwatch(stream uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.watched, stream)
}

// ended is told before gRPC reads it.
func (c *framedConn) ended(stream uint32) {
	c.standing.closed(stream)
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.watched[stream]; g != nil {
		g.said.Store(true)
	}
}

// tinyFrame is the length below which a frame of data takes more than what it holds counts as.
const tinyFrame = 16

// data is told of a frame of data, before gRPC reads it.
func (c *framedConn) data(stream uint32, n int) {
	if (n < tinyFrame || c.standing.indebted.Load()) && !c.standing.data(stream, n < tinyFrame, time.Now()) {
		c.shreds = fmt.Errorf("%w: messages come in frames of a few bytes each", door.ErrBusy)
	}
}

// Read implements net.Conn.
func (c *framedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
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
	c.mu.Lock()
	defer c.mu.Unlock()
	c.own = t
	_ = c.Conn.SetReadDeadline(c.sooner()) // fails only on a closed connection, which the next Read tells
}

// sooner is the deadline that holds, of ours and that from outside.
func (c *framedConn) sooner() time.Time {
	if c.own.IsZero() || !c.end.IsZero() && c.end.Before(c.own) {
		return c.end
	}
	return c.own
}

// SetReadDeadline implements net.Conn.
func (c *framedConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
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

// watchGoodbye looks for the end of the stream of a call. Nobody but gRPC knows its number, which is read from its
// type.
func watchGoodbye(ctx context.Context) (g *goodbye, unwatch func()) {
	p, _ := peer.FromContext(ctx)
	stream := reflect.Indirect(reflect.ValueOf(grpc.ServerTransportStreamFromContext(ctx)))
	if p == nil || stream.Kind() != reflect.Struct {
		return nil, func() {}
	}
	a, _ := p.Addr.(*knownAddr)
	number := stream.FieldByName("id")
	if a == nil || a.frames == nil || number.Kind() != reflect.Uint32 {
		return nil, func() {}
	}
	id := uint32(number.Uint())
	return a.frames.watch(id), func() { a.frames.unwatch(id) }
}
