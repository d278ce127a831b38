package line

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/caller"
	"github.com/hikyaku/hikyaku/internal/door/branch"
)

// conn is a connection and the request on it.
type conn struct {
	s     *Server
	net   net.Conn
	small [usual]byte
	large *[]byte // of the pool, while a request needs it
	data  []byte  // what was read and is not served yet; it lies in small or large
	head  head
	x     Exchange
	end   *caller.End // nil: nobody has asked; of the goroutine that serves

	state   atomic.Int64          // phase and since when: see enter
	pending []byte                // what was read in the background: it belongs behind data
	broken  bool                  // the client went away while it was waited for
	late    atomic.Pointer[watch] // of the request that is served, if it wants one when it takes long
}

// phase is what a connection does.
type phase int64

const (
	idle    phase = iota // waits for a request
	heading              // has a part of its header, or shakes hands
	reading              // has a part of its body
	working              // answers one
	writing
	phases
)

// enter begins a phase.
func (c *conn) enter(p phase) { c.state.Store(c.s.clock.Load()*int64(phases) + int64(p)) }

func (c *conn) phase() phase { return phase(c.state.Load() % int64(phases)) }

// overdue tells whether the connection has been in its phase for too long.
func (c *conn) overdue(now int64) bool {
	state := c.state.Load()
	took := time.Duration(now-state/int64(phases)-1) * tick // at least
	switch phase(state % int64(phases)) {
	case idle:
		return took >= c.s.config.Idle
	case heading:
		return took >= c.s.config.Head
	case reading:
		return took >= c.s.config.Read
	case writing:
		return took >= c.s.config.Stall
	}
	return false
}

// look begins the watch of a request that takes long.
func (c *conn) look(now int64) {
	if w := c.late.Load(); w != nil && c.phase() == working && now-c.state.Load()/int64(phases) > 1 {
		w.begin()
	}
}

// interrupt ends the wait for a request.
func (c *conn) interrupt() {
	if c.phase() == idle {
		_ = c.net.SetReadDeadline(time.Unix(1, 0)) // a connection that is closed already has none
	}
}

// run serves the connection until it ends or is handed over.
func (c *conn) run() {
	kept := true
	defer func() {
		if v := recover(); v != nil && c.s.config.Panicked != nil {
			c.s.config.Panicked(v)
		}
		if kept {
			_ = c.net.Close() // the client has been answered, or is not there any more
			<-c.s.room
		}
		c.release()
		c.s.mu.Lock()
		delete(c.s.conns, c)
		c.s.mu.Unlock()
	}()
	if !c.greet() {
		return
	}
	c.data = c.small[:0]
	for {
		n, v := c.next()
		switch v {
		case other:
			kept = false
			c.hand()
			return
		case more: // it has ended
			return
		}
		switch c.serve(n) {
		case over:
			return
		case left:
			kept = false
			c.hand()
			return
		}
	}
}

// greet does what TLS wants first.
func (c *conn) greet() bool {
	if c.s.config.TLS == nil {
		return true
	}
	c.enter(heading)
	secure := tls.Server(c.net, c.s.config.TLS)
	ctx, cancel := context.WithTimeout(c.s.ctx, c.s.config.Head)
	defer cancel()
	if err := secure.HandshakeContext(ctx); err != nil {
		TellPlain(err)
		if c.s.config.Ungreeted != nil {
			c.s.config.Ungreeted()
		}
		return false
	}
	if c.s.config.Greeted != nil {
		c.s.config.Greeted(c.net)
	}
	c.s.mu.Lock() // Shutdown and sweep look at it
	c.net = secure
	c.s.mu.Unlock()
	c.enter(idle)
	return true
}

// next reads until there is a whole request, and returns the length of its head. more says that none comes.
func (c *conn) next() (n int, v verdict) {
	for {
		if len(c.data) > 0 {
			if n, v = c.head.read(c.data); v == other {
				return n, v
			}
			switch {
			case v == plain && len(c.data) >= n+c.head.length:
				return n, plain
			case v == plain:
				if c.phase() == heading {
					c.enter(reading)
				}
				if !c.grow(n + c.head.length) {
					return n, other
				}
				if c.head.expects && len(c.data) == n && !c.goOn() {
					return 0, more
				}
			case len(c.data) >= maxHead:
				return 0, other
			case len(c.data) == cap(c.data):
				if !c.grow(maxHead) {
					return n, other
				}
			}
		} else if c.s.ctx.Err() != nil {
			return 0, more
		}
		m, err := c.net.Read(c.data[len(c.data):cap(c.data)])
		if m > 0 {
			if len(c.data) == 0 {
				c.enter(heading)
			}
			c.data = c.data[:len(c.data)+m]
			continue
		}
		if err != nil {
			return 0, more
		}
	}
}

// goOn tells a client that expects it to send its body.
func (c *conn) goOn() bool {
	_, err := c.net.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n"))
	return err == nil
}

// grow makes room for a request of n bytes in all, if there is any.
func (c *conn) grow(n int) bool {
	if n <= cap(c.data) {
		return true
	}
	if !c.s.config.Take(maxHead + maxBody) {
		return false
	}
	large := c.s.pool.Get().(*[]byte)
	c.data = append((*large)[:0], c.data...)
	c.large = large
	return true
}

// shrink gives the large buffer back when nothing is in it any more.
func (c *conn) shrink() {
	if c.large != nil && len(c.data) <= usual {
		c.data = append(c.small[:0], c.data...)
		c.release()
	}
	if c.head.size > usual { // there are many connections that are idle
		c.head = head{}
	}
}

// release gives the large buffer back.
func (c *conn) release() {
	if c.large != nil {
		c.s.pool.Put(c.large)
		c.large = nil
		c.s.config.Give(maxHead + maxBody)
	}
}

// errSlow is the error of an answer to a client that takes it too slowly.
var errSlow = errors.New("the client takes the answer too slowly")

// write writes an answer. Each piece has a time of its own, and all of them together have another: see overdue.
func (c *conn) write(p []byte) error {
	begun := c.s.clock.Load()
	for {
		c.enter(writing)
		n := min(len(p), StallBytes)
		if _, err := c.net.Write(p[:n]); err != nil {
			return err
		}
		if p = p[n:]; len(p) == 0 {
			return nil
		}
		if time.Duration(c.s.clock.Load()-begun-1)*tick >= c.s.config.Write {
			return errSlow
		}
	}
}

// ending is how the service of a request ended.
type ending uint8

const (
	answered ending = iota // the next one can come
	left                   // it is net/http's
	over                   // the connection has ended with it
)

// serve answers the request at the beginning of data, whose head has n bytes.
func (c *conn) serve(n int) ending {
	c.enter(working)
	end := n + c.head.length
	c.head.end = end
	c.x = Exchange{c: c, Request: &c.head.request, Body: c.data[n:end:end]}
	c.s.config.Serve(&c.x)
	switch {
	case c.broken || c.x.failed:
		return over
	case c.x.left:
		c.data, c.pending = append(c.data, c.pending...), c.pending[:0]
		return left
	case !c.x.sent:
		return over
	}
	c.data = append(c.data[:0], c.data[end:]...)
	c.data, c.pending = append(c.data, c.pending...), c.pending[:0]
	c.shrink()
	c.enter(idle)
	return answered
}

// hand gives the connection to net/http, with all that was read of it.
func (c *conn) hand() {
	h := branch.Leaving(branch.Begun(c.net, append([]byte(nil), c.data...)), sync.OnceFunc(func() { <-c.s.room }))
	if !c.s.others.Hand(h) {
		_ = h.Close() // nobody has been answered
	}
}
