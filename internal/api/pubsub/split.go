package pubsub

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/door/branch"
	"github.com/hikyaku/hikyaku/internal/door/line"
)

// split serves two protocols on one listener. A connection that begins as HTTP/2 with prior knowledge does is gRPC's;
// every other one is REST's. With TLS both sides have agreed on one of them before.
type split struct {
	listener net.Listener
	tls      *tls.Config // nil: none
	traffic  *door.Traffic
	grpc     *branch.Listener
	rest     *branch.Listener

	room   chan struct{} // one place for each connection
	closed chan struct{}
	once   sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	hands  sync.WaitGroup
}

func newSplit(l net.Listener, t *tls.Config, most int, traffic *door.Traffic) *split {
	s := &split{listener: l, tls: t, traffic: traffic, room: make(chan struct{}, most), closed: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.grpc, s.rest = branch.New(l.Addr(), s.closed), branch.New(l.Addr(), s.closed)
	return s
}

// run accepts connections until close.
func (s *split) run() {
	defer s.hands.Wait()
	for {
		select {
		case s.room <- struct{}{}:
		case <-s.closed:
			return
		}
		c, err := s.listener.Accept()
		if err != nil {
			<-s.room
			if errors.Is(err, net.ErrClosed) {
				return
			}
			select { // out of files, as a rule: others have to close some first
			case <-time.After(50 * time.Millisecond):
			case <-s.closed:
				return
			}
			continue
		}
		s.hands.Go(func() { s.greet(c, branch.Leaving(c, sync.OnceFunc(func() { <-s.room }))) })
	}
}

// greet finds out which protocol a connection speaks and hands it over. raw carries it.
func (s *split) greet(raw, conn net.Conn) {
	bare := conn // which becomes another one below
	stop := context.AfterFunc(s.ctx, func() { _ = bare.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	_ = bare.SetDeadline(time.Now().Add(door.HeaderTime)) // a broken connection fails the read below
	to := s.rest
	if s.tls != nil {
		secure := tls.Server(conn, s.tls)
		if err := secure.HandshakeContext(s.ctx); err != nil {
			line.TellPlain(err)
			s.traffic.HandshakeFailed()
			_ = conn.Close()
			return
		}
		door.Greeted(raw)
		if secure.ConnectionState().NegotiatedProtocol == protoGRPC {
			to = s.grpc
		}
		conn = secure
	} else {
		r := bufio.NewReaderSize(conn, 64)
		start, err := r.Peek(3)
		if err != nil {
			_ = conn.Close()
			return
		}
		if string(start) == "PRI" { // no method of HTTP/1 begins so
			to = s.grpc
		}
		begun, _ := r.Peek(r.Buffered())
		conn = branch.Begun(conn, begun)
	}
	if !stop() {
		_ = conn.Close()
		return
	}
	_ = conn.SetDeadline(time.Time{})
	if !to.Hand(conn) {
		_ = conn.Close()
	}
}

// close stops accepting. Connections that were handed over stay.
func (s *split) close() {
	s.once.Do(func() {
		close(s.closed)
		s.cancel()
		_ = s.listener.Close()
	})
}
