package farend

import (
	"bufio"
	"crypto/tls"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"golang.org/x/net/http2"
)

const handshakeTime = 10 * time.Second

// onlyHTTP2 is what a client of HTTP/1 is told where there is none.
const onlyHTTP2 = "HTTP/1.1 505 HTTP Version Not Supported\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: " +
	"close\r\nContent-Length: 52\r\n\r\n" +
	"this far end speaks HTTP/2 alone, with ALPN or none\n"

func freshSeed() uint64 { return rand.Uint64() | 1 }

// accept lets connections in, and turns away those that come too soon after others.
func (s *Server) accept() {
	defer s.running.Done()
	var gate gate
	for {
		nc, err := s.listener.Accept()
		if err != nil {
			select {
			case <-s.over:
				return
			case <-time.After(10 * time.Millisecond): // out of files, perhaps: there is no readiness to wait for
				continue
			}
		}
		tcp := nc.(*net.TCPConn)
		rules := s.plan.Load().Newcomers
		if !gate.open(rules, time.Now()) {
			s.ledger.turnedAway.Add(1)
			s.turnAway(tcp, gate.treatment(rules))
			continue
		}
		if !s.begin(tcp) {
			tcp.Close()
			return
		}
	}
}

// gate is a bucket of tokens, one a connection.
type gate struct {
	tokens float64
	last   time.Time
	turned int
}

func (g *gate) open(n Newcomers, now time.Time) bool {
	if n.PerSecond <= 0 {
		g.last = time.Time{}
		return true
	}
	burst := max(1, n.PerSecond)
	if n.Burst > 0 {
		burst = float64(n.Burst)
	}
	if g.last.IsZero() {
		g.tokens = burst
	} else {
		g.tokens = min(burst, g.tokens+now.Sub(g.last).Seconds()*n.PerSecond)
	}
	g.last = now
	if g.tokens < 1 {
		return false
	}
	g.tokens--
	return true
}

func (g *gate) treatment(n Newcomers) Treatment {
	g.turned++
	switch {
	case n.Do == MixThem && g.turned%2 == 0:
		return HangThem
	case n.Do == MixThem || n.Do == "":
		return ResetThem
	}
	return n.Do
}

func (s *Server) turnAway(tcp *net.TCPConn, how Treatment) {
	if how == HangThem {
		s.mu.Lock()
		fits := len(s.hanging) < maxHanging && !s.closed
		if fits {
			s.hanging = append(s.hanging, tcp)
		}
		s.mu.Unlock()
		if fits {
			return
		}
	}
	tcp.SetLinger(0)
	tcp.Close()
}

// begin starts the goroutines of a connection; false when the server is closed.
func (s *Server) begin(tcp *net.TCPConn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if len(s.conns) >= mostConns {
		s.ledger.turnedAway.Add(1)
		tcp.SetLinger(0)
		tcp.Close()
		return true
	}
	s.serial++
	c := newConn(s, tcp, rand.New(rand.NewPCG(s.seed, s.serial)))
	s.conns[c] = struct{}{}
	s.running.Add(1)
	s.ledger.connections.Add(1)
	rise(&s.ledger.mostOpen, s.ledger.open.Add(1))
	go func() {
		defer s.running.Done()
		c.run()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
		s.ledger.open.Add(-1)
	}()
	return true
}

// run makes the handshake and serves the connection until its end.
func (c *conn) run() {
	defer c.end()
	c.tcp.SetDeadline(time.Now().Add(handshakeTime))
	protocol := http2.NextProtoTLS
	if c.s.tls != nil {
		secure := tls.Server(c.tcp, c.s.tls)
		if err := secure.Handshake(); err != nil { // bounded by the deadline; end closes what is under it
			c.broke(whyHandshake(err))
			return
		}
		state := secure.ConnectionState()
		c.nc, c.state, protocol = secure, &state, state.NegotiatedProtocol
	}
	c.tcp.SetDeadline(time.Time{})
	c.br = bufio.NewReaderSize(c.nc, readBuffer)
	// a client with prior knowledge need not ask in the handshake, as it need not at Apple's
	if c.s.tls == nil || protocol == "" {
		protocol = http2.NextProtoTLS
		if first, err := c.br.Peek(3); err == nil && string(first) != "PRI" {
			protocol = "http/1.1"
		}
	}
	if protocol == http2.NextProtoTLS {
		c.serve()
		return
	}
	if c.s.http1 == nil {
		c.broke(brokenHTTP1, brokenHints[brokenHTTP1])
		_, _ = io.WriteString(c.nc, onlyHTTP2) // a client that is gone misses it
		return
	}
	c.s.http1.serve(c)
}
