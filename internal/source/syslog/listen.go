package syslog

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
)

// lastLook is how long, after a stop, the source waits for the next of what the kernel has taken and it has not.
const lastLook = 20 * time.Millisecond

// look gives a wait its end: after a stop it is short, and there is none any more when live has ended.
func look(ctx, live context.Context, setDeadline func(time.Time) error) error {
	switch {
	case live.Err() != nil:
		return os.ErrDeadlineExceeded
	case ctx.Err() != nil:
		return setDeadline(time.Now().Add(lastLook))
	}
	return nil
}

// accept serves the connections of senders until ctx ends, and then reads them to their end, as long as live lasts.
// So it does with those that the kernel has accepted by then: their senders may have written already.
func (s *Source) accept(ctx, live context.Context, out component.Out) error {
	defer s.listener.Close()
	last := sync.OnceFunc(func() {
		if err := openNoMore(s.listener); err != nil {
			s.Add(unkept, "connections that are opened at the moment of the stop may be broken off: "+err.Error())
		}
	})
	deadline := func(t time.Time) error {
		last()
		return s.listener.SetDeadline(t)
	}
	defer context.AfterFunc(ctx, func() { _ = look(ctx, live, deadline) })() // it may hang in Accept
	var conns sync.WaitGroup
	defer conns.Wait()
	room := make(chan struct{}, s.MaxConnections)
	for {
		err := look(ctx, live, deadline)
		var c net.Conn
		if err == nil {
			c, err = s.listener.Accept()
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && live.Err() == nil && waits(s.listener) {
			continue
		}
		if errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
			s.listener.Close() // who comes now is refused, while the others are read
			return err
		}
		if err != nil { // no more files may be open, for example: that passes
			s.Add(refused, "a connection could not be accepted: "+err.Error())
			select {
			case <-live.Done():
			case <-time.After(100 * time.Millisecond):
			}
			continue
		}
		from := c.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
		if !s.takes(from) {
			s.Add(refused, "a connection came from a network that is not in from:")
			c.Close()
			continue
		}
		select {
		case room <- struct{}{}:
		default:
			s.Add(refused, fmt.Sprintf("there were max_connections: %d already", s.MaxConnections))
			c.Close()
			continue
		}
		conns.Go(func() {
			defer func() { <-room }()
			defer c.Close()
			s.serve(ctx, live, c.(*net.TCPConn), from, out)
		})
	}
}

// serve takes the messages of a connection.
func (s *Source) serve(ctx, live context.Context, c *net.TCPConn, from netip.Addr, out component.Out) {
	var in net.Conn = c
	if s.secure != nil {
		secured := tls.Server(c, s.secure)
		// A sender may write as soon as its own part of the handshake is done, so a stop does not break it off.
		greeting, cancel := context.WithTimeout(live, handshakeTime)
		err := secured.HandshakeContext(greeting)
		cancel()
		if err != nil {
			s.Add(handshakes, "a sender and this source found no TLS in common: "+err.Error())
			return
		}
		in = secured
	}
	defer context.AfterFunc(live, func() { _ = c.SetReadDeadline(time.Unix(1, 0)) })() // it may hang in a read
	// A sender that finds its connection closed for reading sends no more and closes it, too: then all of it was read.
	defer context.AfterFunc(ctx, func() { _ = c.CloseWrite() })()
	f := newFramer(&patient{in, live, s.IdleTimeout}, s.MaxMessageBytes)
	p := newParser(s.Format)
	for {
		text, long, err := f.next()
		if errors.Is(err, io.ErrUnexpectedEOF) {
			s.Add(torn, "a connection ended in the middle of a message, which is left out")
		}
		if err == nil && s.send(live, p, text, long, from, out) == nil {
			continue
		}
		if n := len(text) + f.in.Buffered() + unread(c); n > 0 {
			s.Add(left, fmt.Sprintf("%d bytes of a connection were taken and not delivered before the end: they are lost",
				n))
		}
		return
	}
}

// patient is a connection that ends when nothing comes for a while, and with live.
type patient struct {
	net.Conn
	live     context.Context
	patience time.Duration
}

// Read implements io.Reader.
func (p *patient) Read(b []byte) (int, error) {
	if err := p.SetReadDeadline(time.Now().Add(p.patience)); err != nil {
		return 0, err
	}
	if err := p.live.Err(); err != nil { // whose end sets a deadline, too, maybe before this one
		return 0, err
	}
	return p.Conn.Read(b)
}

const (
	kernelRoom = 1 << 20 // for datagrams, as far as the system grants it
	// What waits of datagrams at most.
	waitingDatagrams = 1000
	waitingBytes     = 8 << 20
)

type datagram struct {
	text []byte
	long bool
	from netip.Addr
}

// receive takes datagrams until ctx ends, and then those that the kernel holds, whether the pipeline takes them or not:
// what finds no room is dropped.
func (s *Source) receive(ctx, live context.Context, out component.Out) error {
	defer context.AfterFunc(ctx, func() { _ = look(ctx, live, s.packets.SetReadDeadline) })() // it may hang in a read
	waiting := make(chan datagram, waitingDatagrams)
	var bytes atomic.Int64
	var sending sync.WaitGroup
	defer sending.Wait()
	defer close(waiting)
	sending.Go(func() {
		p := newParser(s.Format)
		for d := range waiting {
			bytes.Add(-int64(len(d.text)))
			if s.send(live, p, d.text, d.long, d.from, out) != nil {
				return
			}
		}
	})
	buf := make([]byte, s.MaxMessageBytes+1)
	for {
		err := look(ctx, live, s.packets.SetReadDeadline)
		n, addr := 0, netip.AddrPort{}
		if err == nil {
			n, addr, err = s.packets.ReadFromUDPAddrPort(buf)
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && live.Err() == nil && waits(s.packets) {
			continue
		}
		if errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		from := addr.Addr().Unmap()
		switch {
		case err != nil:
			continue // of one datagram
		case !s.takes(from):
			s.Add(refused, "a datagram came from a network that is not in from:")
			continue
		}
		d := datagram{text: trim(append([]byte(nil), buf[:min(n, s.MaxMessageBytes)]...)), long: n > s.MaxMessageBytes,
			from: from}
		if bytes.Add(int64(len(d.text))) <= waitingBytes {
			select {
			case waiting <- d:
				continue
			default:
			}
		}
		bytes.Add(-int64(len(d.text)))
		s.Add(dropped, "a datagram was dropped: the pipeline is full")
	}
}
