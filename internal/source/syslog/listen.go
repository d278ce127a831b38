package syslog

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
)

// accept serves the connections of senders until ctx ends, and then reads them to their end, as long as live lasts.
func (s *Source) accept(ctx, live context.Context, out component.Out) error {
	defer context.AfterFunc(ctx, func() { s.listener.Close() })()
	var conns sync.WaitGroup
	defer conns.Wait()
	room := make(chan struct{}, s.MaxConnections)
	for {
		c, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return err
		}
		if err != nil { // no more files may be open, for example: that passes
			s.Add(refused, "a connection could not be accepted: "+err.Error())
			select {
			case <-ctx.Done():
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
	defer context.AfterFunc(live, func() { c.Close() })() // it may hang in a read
	var in net.Conn = c
	if s.secure != nil {
		secured := tls.Server(c, s.secure)
		greeting, cancel := context.WithTimeout(ctx, handshakeTime)
		err := secured.HandshakeContext(greeting)
		cancel()
		if err != nil {
			s.Add(handshakes, "a sender and this source found no TLS in common: "+err.Error())
			return
		}
		in = secured
	}
	// A sender that finds its connection closed for reading sends no more and closes it, too: then all of it was read.
	defer context.AfterFunc(ctx, func() { _ = c.CloseWrite() })()
	f := newFramer(&patient{in, s.IdleTimeout}, s.MaxMessageBytes)
	p := newParser(s.Format)
	for {
		text, long, err := f.next()
		if errors.Is(err, io.ErrUnexpectedEOF) {
			s.Add(torn, "a connection ended in the middle of a message, which is left out")
		}
		if err != nil {
			return
		}
		if s.send(live, p, text, long, from, out) != nil {
			return
		}
	}
}

// patient is a connection that ends when nothing comes for a while.
type patient struct {
	net.Conn
	patience time.Duration
}

// Read implements io.Reader.
func (p *patient) Read(b []byte) (int, error) {
	if err := p.SetReadDeadline(time.Now().Add(p.patience)); err != nil {
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

// receive takes datagrams until ctx ends, whether the pipeline takes them or not: what finds no room is dropped.
func (s *Source) receive(ctx, live context.Context, out component.Out) error {
	defer context.AfterFunc(ctx, func() { s.packets.Close() })()
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
		n, addr, err := s.packets.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
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
