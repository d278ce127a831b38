package push

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/hikyaku/hikyaku/internal/outbound"
	"github.com/hikyaku/hikyaku/internal/push/wire"
)

// serve makes a connection and reads from it until it ends. It is the goroutine that owns it.
func (c *Client) serve(k *conn) {
	var out answers
	failed := c.connect(k)
	if failed == nil {
		var err error
		if k.single {
			go k.ask()
			err = k.replies(&out)
		} else {
			w := &writer{k: k, encoder: wire.NewEncoder()}
			go w.write()
			err = k.read(&out)
		}
		c.mu.Lock()
		k.end(err, codeOf(err))
		c.mu.Unlock()
		<-k.written
	}
	k.hangUp()
	c.mu.Lock()
	c.after(k, failed, &out)
	c.mu.Unlock()
	out.give(c)
}

// hangUp closes the socket. There is nobody to tell of an error.
func (k *conn) hangUp() {
	if k.raw == nil {
		return
	}
	if !k.cut {
		_ = k.rw.Close() // TLS says goodbye, too
	}
	_ = k.raw.Close()
}

// after does what remains when a connection has ended, or has not come about. Under the mutex.
func (c *Client) after(k *conn, failed error, out *answers) {
	now := c.tickNow()
	if !k.ready {
		c.dialing = false
		c.count.DialFailures++
		if failed == nil {
			failed = k.dead
		}
		rest := c.budget.failed(now)
		c.tell(Event{Kind: DialFailed, Connection: k.number, Err: failed, After: rest})
		c.lastFailure = failed
		c.kick()
		return
	}
	ours := errors.Is(k.dead, errIdle) || errors.Is(k.dead, errAge) || errors.Is(k.dead, errDrained) ||
		errors.Is(k.dead, errGivenUp) || errors.Is(k.dead, ErrClosed)
	if !ours {
		if k.farewell == nil {
			c.count.Lost++
		}
		if k.answered == 0 {
			c.budget.failed(now)
		}
	}
	why := k.dead
	if k.farewell != nil {
		why = k.farewell
	}
	if k.answered == 0 && (!ours || k.farewell != nil) {
		c.useless = why
	}
	lost := 0
	for _, call := range k.streams {
		if !call.sent.IsZero() {
			lost++
		}
	}
	k.remains(why, out)
	c.tell(Event{Kind: Closed, Connection: k.number, Err: why, InFlight: lost})
	c.kick()
}

// dialer makes the sockets.
func dialer() *net.Dialer { return &net.Dialer{KeepAlive: 15 * time.Second} }

// Through is a Config's Dial through an HTTP proxy, as outbound.Policy.Tunnel has it, to where reach lets it; nil:
// anywhere.
func Through(proxy string, secure *tls.Config, reach *outbound.Policy) (outbound.DialFunc, error) {
	return reach.Tunnel(proxy, secure, dialer())
}

// connect makes the socket, TLS on it, and prepares the first words.
func (c *Client) connect(k *conn) error {
	ctx, cancel := context.WithTimeout(c.ctx, c.config.DialTimeout)
	defer cancel()
	raw, err := c.config.Dial(ctx, "tcp", c.config.Address)
	if err != nil {
		return fmt.Errorf("connecting to %s: %w", c.config.Address, err)
	}
	until, _ := ctx.Deadline()
	source := &buffered{Conn: raw}
	var rw net.Conn = source
	if c.secure != nil {
		t := tls.Client(source, c.secure)
		rw = t
		err = t.HandshakeContext(ctx)
		if err == nil && t.ConnectionState().NegotiatedProtocol != "h2" {
			if k.single = c.config.HTTP1; !k.single {
				err = errNoALPN
			}
		}
		if err != nil {
			_ = raw.Close()
			return fmt.Errorf("TLS with %s (%s): %w", c.config.Address, c.secure.ServerName, err)
		}
	}
	err = raw.SetReadDeadline(until)
	c.mu.Lock()
	defer c.mu.Unlock()
	k.raw, k.source, k.rw = raw, source, rw
	if err == nil && c.ctx.Err() != nil {
		err = ErrClosed
	}
	if err != nil {
		return fmt.Errorf("greeting %s: %w", c.config.Address, err)
	}
	if !k.single {
		k.control = c.hello()
	}
	c.greeting = k
	return nil
}

// hello is the first words on a connection of HTTP/2.
func (c *Client) hello() []byte {
	hello := wire.AppendSettings([]byte(wire.Preface),
		wire.Setting{ID: wire.SettingEnablePush, Value: 0},
		// one more, to see that it is too long
		wire.Setting{ID: wire.SettingInitialWindowSize, Value: uint32(c.config.MaxResponseBody) + 1},
		wire.Setting{ID: wire.SettingMaxHeaderListSize, Value: uint32(c.config.MaxResponseHeader)})
	return wire.AppendWindowUpdate(hello, 0, connWindow-wire.DefaultWindow)
}

// begin lets a connection take requests: the far end's SETTINGS have come. Under the mutex.
func (k *conn) begin() {
	c := k.c
	c.dialing, c.greeting = false, nil
	c.lastFailure = nil
	k.ready = true
	k.used = c.clock
	if c.config.InitialStreams > 0 {
		k.trialTill = c.clock + c.config.trial()
	}
	if age := c.config.MaxAge; age > 0 {
		k.age = c.clock + age - time.Duration(c.budget.random()*float64(age)/10)
	}
	_ = k.raw.SetReadDeadline(time.Time{}) // from here on the writer and the keeper watch
	c.open = append(c.open, k)
	c.count.Made++
	c.tell(Event{Kind: Connected, Connection: k.number, Streams: k.limit()})
	for _, old := range append([]*conn(nil), c.open...) {
		if old.aged && old != k {
			old.retire(errAge)
		}
	}
	c.poke()
}

// read reads until the connection ends, and answers why it did.
func (k *conn) read(out *answers) error {
	c := k.c
	r := newReader(&c.config)
	buf := make([]byte, readLen+recordLen+wire.HeaderLen)
	have, parsed := 0, 0
	for {
		n, err := k.rw.Read(buf[have:])
		have += n
		used, bad := r.frames(buf[parsed:have])
		parsed += used
		if err == nil && bad == nil && len(buf)-have > recordLen && k.source.more(c.secure != nil) {
			continue // another record is here already: both are acted upon in one go
		}
		if len(r.events) > 0 {
			c.mu.Lock()
			if broken := k.apply(r, out); broken != nil {
				bad = broken
			}
			c.mu.Unlock()
			clear(r.events)
			r.events = r.events[:0]
			out.give(c)
		}
		if bad != nil {
			return bad
		}
		if err != nil {
			return k.why(err)
		}
		have, parsed = copy(buf, buf[parsed:have]), 0
	}
}

// why turns the end of reading into a reason.
func (k *conn) why(err error) error {
	k.c.mu.Lock()
	defer k.c.mu.Unlock()
	switch {
	case k.dead != nil:
		return k.dead
	case !k.ready && errors.Is(err, os.ErrDeadlineExceeded):
		return errors.New("the far end sends no SETTINGS")
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	return err
}

func codeOf(err error) uint32 {
	var p *ProtocolError
	if errors.As(err, &p) {
		return uint32(p.Code)
	}
	return silent
}
