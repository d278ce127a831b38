package door

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// ConnStands is what a connection takes of Busy.Standing while it is open, whatever it does: its goroutine, its
// buffers, and a header of the usual kind. With TLS, which adds its keys and the largest record, it is secureStands.
const (
	ConnStands   = 24 << 10
	secureStands = 56 << 10
)

// Up to here what comes before a request is of the usual kind, and is not counted for itself.
const (
	usualHeader = 4 << 10
	usualLines  = 64
)

// What is made of a header that is longer: of its bytes, and of each line. Where lines are not seen, because they are
// encrypted, they may all be as short as lines can be.
const (
	headerCost = 3
	lineCost   = 150
	blindCost  = 24
)

// headerStep is what a header that grows takes at once.
const headerStep = 16 << 10

// standing is a listener whose connections take room of an account while they are open: more wait for one to end, as
// for a place.
type standing struct {
	net.Listener
	of     *Busy
	secure bool
	ctx    context.Context
	close  context.CancelFunc
}

// Standing is l, whose connections take room of an account for as long as they are open. secure: TLS is about to shake
// hands on them, and they count what comes as those of Heads do, until Greeted is called where it is.
func Standing(l net.Listener, of *Busy, secure bool) net.Listener {
	s := &standing{Listener: l, of: of, secure: secure}
	s.ctx, s.close = context.WithCancel(context.Background())
	return s
}

// Accept implements net.Listener.
func (s *standing) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	n := int64(ConnStands)
	if s.secure {
		n = secureStands
	}
	if !s.of.Try(n) && s.of.wait(s.ctx, n) != nil {
		_ = c.Close() // nobody has been answered
		return nil, net.ErrClosed
	}
	if !s.secure {
		return &standingConn{Conn: c, leave: sync.OnceFunc(func() { s.of.Give(n) })}, nil
	}
	h := newHeadConn(c, s.of, blindCost)
	h.stands = n
	return h, nil
}

// Close implements net.Listener.
func (s *standing) Close() error {
	s.close()
	return s.Listener.Close()
}

// standingConn gives back what it takes when it is closed.
type standingConn struct {
	net.Conn
	leave func()
}

// NetConn is the connection below.
func (c *standingConn) NetConn() net.Conn { return c.Conn }

// Close implements net.Conn.
func (c *standingConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

// Greeted tells a connection of Standing that TLS has shaken hands on it. It is called from the goroutine that did.
func Greeted(c net.Conn) {
	if h, ok := c.(*headConn); ok {
		h.serve()
		h.fit(0)
	}
}

// Heads is l, whose connections take room of an account for headers that are not of the usual kind, from when they
// come until the answer to their request is sent: net/http reads up to MaxHeaderBytes before it asks anybody. One for
// which there is no room ends with its connection. Parts.Watch tells it when a request is there and answered.
func Heads(l net.Listener, of *Busy) net.Listener { return &heads{l, of} }

type heads struct {
	net.Listener
	of *Busy
}

// Accept implements net.Listener.
func (l *heads) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return newHeadConn(c, l.of, headerCost), nil
}

// headConn counts what comes before a request.
type headConn struct {
	net.Conn
	of     *Busy
	cost   int64
	served atomic.Bool // what comes is a body

	n, lines atomic.Int64 // that have come

	mu     sync.Mutex
	taken  int64
	stands int64 // taken besides, as long as it is open
	many   bool  // it speaks HTTP/2, and has taken what that takes
	closed bool
}

func newHeadConn(c net.Conn, of *Busy, cost int64) *headConn {
	return &headConn{Conn: c, of: of, cost: cost}
}

// headOf is the headConn that carries a connection of net/http; nil: none does.
func headOf(c net.Conn) *headConn {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	h, _ := c.(*headConn)
	return h
}

// NetConn is the connection below.
func (h *headConn) NetConn() net.Conn { return h.Conn }

// Read implements net.Conn.
func (h *headConn) Read(b []byte) (int, error) {
	n, err := h.Conn.Read(b)
	if n == 0 || h.served.Load() {
		return n, err
	}
	all, lines := h.n.Add(int64(n)), int64(0)
	if h.cost != blindCost {
		lines = h.lines.Add(int64(bytes.Count(b[:n], newLine)))
	}
	if (all > usualHeader || lines > usualLines) && !h.fit(h.cost*all+lineCost*lines) {
		return 0, errNoRoom{}
	}
	return n, err
}

var newLine = []byte{'\n'}

// fit takes what is needed, or gives everything back. false: there is no room.
func (h *headConn) fit(need int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
	case need == 0:
		h.of.Give(h.taken)
		h.taken = 0
	case need > h.taken:
		n := need - h.taken + headerStep
		if !h.of.Try(n) {
			return false
		}
		h.taken += n
	}
	return true
}

// What a connection of HTTP/2 may have, and takes besides from its first request on: streams, and bytes that nobody has
// read yet.
const (
	mostStreams   = 100
	streamsWindow = 128 << 10
)

// streamStands is what a request over HTTP/2 takes beside its header until it is answered.
const streamStands = 16 << 10

// stream takes what a request over HTTP/2 takes. false: there is no room.
func (h *headConn) stream(r *http.Request) (n int64, ok bool) {
	if h == nil {
		return 0, true
	}
	n = streamStands
	for name, values := range r.Header {
		for _, value := range values {
			n += int64(lineCost + headerCost*(len(name)+len(value)))
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.many && !h.closed {
		if !h.of.Try(streamsWindow) {
			return 0, false
		}
		h.many, h.stands = true, h.stands+streamsWindow
	}
	return n, h.of.Try(n)
}

// give gives back what stream took.
func (h *headConn) give(n int64) {
	if h != nil {
		h.of.Give(n)
	}
}

// serve is told that a request has come, and what comes next is its body.
func (h *headConn) serve() {
	if h != nil {
		h.served.Store(true)
	}
}

// idle is told that its answer is sent.
func (h *headConn) idle() {
	if h == nil {
		return
	}
	h.n.Store(0)
	h.lines.Store(0)
	h.fit(0)
	h.served.Store(false)
}

// Close implements net.Conn.
func (h *headConn) Close() error {
	err := h.Conn.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.of.Give(h.taken + h.stands)
	h.taken, h.stands, h.closed = 0, 0, true
	return err
}

// errNoRoom is a net.Error, of which net/http says nothing.
type errNoRoom struct{}

func (errNoRoom) Error() string   { return ErrBusy.Error() }
func (errNoRoom) Timeout() bool   { return true }
func (errNoRoom) Temporary() bool { return false }
