package link

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// ErrHandshake is what reading and writing fail with when the handshake took too long, or had more to it than any
// handshake has.
var ErrHandshake = errors.New("the client did not finish the handshake")

// ErrStalled is what writing fails with when the client takes nothing.
var ErrStalled = errors.New("the client takes nothing of its answer")

const (
	// maxHandshakeBytes is how much a client may send before Ready: names, a password, attributes of the connection (at
	// most 64 KiB), and certificates under TLS.
	maxHandshakeBytes = 256 << 10
	// writeChunk is how much is written under one deadline: a large answer may take long as long as it moves.
	writeChunk = 128 << 10
)

// Conn is an accepted connection. Reading, watching and Ready are for one goroutine at a time; Write, Close and the
// deadlines may be used from any.
type Conn struct {
	raw              net.Conn
	handshake, stall time.Duration // below 0: no end
	remote           net.Addr

	ready atomic.Bool
	heard atomic.Int64 // bytes read before ready

	mu                sync.Mutex
	begun             bool
	readyBy           time.Time // while the handshake goes on
	readEnd, writeEnd time.Time // as set from outside; zero: none
	watch             *watch    // nil: nobody watches
	kept              []byte    // what a watch read, for the next Read
	failed            error     // what a watch's read failed with, after kept
}

func newConn(raw net.Conn, handshake, stall time.Duration) *Conn {
	c := &Conn{raw: raw, handshake: handshake, stall: stall, remote: raw.RemoteAddr()}
	if c.Local() {
		// a client's end of a socket has no name, and MySQL says so
		c.remote = &net.UnixAddr{Name: "localhost", Net: "unix"}
	}
	return c
}

// Of finds the Conn that carries a connection: itself, or below TLS.
func Of(conn net.Conn) (*Conn, bool) {
	for {
		switch c := conn.(type) {
		case *Conn:
			return c, true
		case interface{ NetConn() net.Conn }: // as *tls.Conn has it
			conn = c.NetConn()
		default:
			return nil, false
		}
	}
}

// NetConn is the connection as it was accepted, for whoever looks for what carries it.
func (c *Conn) NetConn() net.Conn { return c.raw }

// Local tells whether the client came by the socket in the file system.
func (c *Conn) Local() bool { return c.raw.LocalAddr().Network() == "unix" }

// Ready ends the handshake: from now on the client may be silent for as long as it likes, and send as much.
func (c *Conn) Ready() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun, c.readyBy = true, time.Time{}
	c.ready.Store(true)
	_ = c.setRead()  // fails only on a closed connection, which the next Read tells
	_ = c.setWrite() // as above
}

// begin starts the handshake's time with the first byte that is read or written, not while a connection waits for its
// turn.
func (c *Conn) begin() {
	if c.begun {
		return
	}
	c.begun = true
	if c.handshake >= 0 {
		c.readyBy = time.Now().Add(c.handshake)
		_ = c.setRead() // fails only on a closed connection, which the Read tells
	}
}

// Read reads what a watch kept first. It ends a watch that goes on.
func (c *Conn) Read(b []byte) (int, error) {
	c.endWatch()
	c.mu.Lock()
	c.begin()
	if len(c.kept) > 0 || c.failed != nil {
		defer c.mu.Unlock()
		return c.readKept(b)
	}
	c.mu.Unlock()
	n, err := c.raw.Read(b)
	if !c.ready.Load() {
		err = c.readEarly(n, err)
	}
	return n, err
}

func (c *Conn) readKept(b []byte) (int, error) {
	if len(c.kept) == 0 {
		return 0, c.failed
	}
	n := copy(b, c.kept)
	if c.kept = c.kept[n:]; len(c.kept) == 0 {
		c.kept = nil // an idle connection keeps no memory
	}
	return n, nil
}

// readEarly is what becomes of a read within the handshake.
func (c *Conn) readEarly(n int, err error) error {
	if c.heard.Add(int64(n)) > maxHandshakeBytes {
		return fmt.Errorf("%w: it sent more than %d bytes", ErrHandshake, maxHandshakeBytes)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) && c.late() {
		return fmt.Errorf("%w within %s: %w", ErrHandshake, c.handshake, err)
	}
	return err
}

// late tells whether the handshake's time is over.
func (c *Conn) late() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.readyBy.IsZero() && !time.Now().Before(c.readyBy)
}

// Write writes all of b as long as the client takes some of it within each Config.Stall.
func (c *Conn) Write(b []byte) (written int, err error) {
	for {
		if err := c.beforeWrite(); err != nil {
			return written, err
		}
		n, err := c.raw.Write(b[written:min(written+writeChunk, len(b))])
		written += n
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return written, c.writeTooLate(err)
		case err != nil || written >= len(b):
			return written, err
		}
	}
}

func (c *Conn) beforeWrite() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin()
	return c.setWrite()
}

func (c *Conn) writeTooLate(err error) error {
	if c.late() {
		return fmt.Errorf("%w within %s: %w", ErrHandshake, c.handshake, err)
	}
	return fmt.Errorf("%w: %w", ErrStalled, err)
}

// Close ends the connection, and with it a watch. It may be called any number of times.
func (c *Conn) Close() error { return c.raw.Close() }

// LocalAddr is the end that was listened on.
func (c *Conn) LocalAddr() net.Addr { return c.raw.LocalAddr() }

// RemoteAddr is where the client is; "localhost" of network "unix" when it came by the socket.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }
