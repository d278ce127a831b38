package remote

import (
	"context"
	"math"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/stats"

	"github.com/hikyaku/hikyaku/internal/link"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Server answers the calls of other nodes.
type Server struct {
	link   *link.Listener
	stores func(shard int) (queue.Shard, error)
	grpc   *grpc.Server
	conns  *incoming
	active sync.WaitGroup
}

// How the two ends of a connection notice that the other is gone: nothing came for quiet, and nothing for another
// patience after it was asked. Quiet is the least that gRPC lets a client have.
const (
	quiet    = 10 * time.Second
	patience = 4 * time.Second
)

// window is how many bytes of a call, and sixteen times as many of a connection, are sent before the other end has read
// some. A node far away takes more than gRPC's 64 KiB in the time that a packet needs there and back.
const window = 1 << 20

// NewServer answers what comes through the listener from now on. stores gives the store of a shard; its error tells the
// caller why there is none, such as cluster.ErrNotOwner. It must not block. Close the server before the listener.
func NewServer(l *link.Listener, stores func(shard int) (queue.Shard, error)) *Server {
	s := &Server{link: l, stores: stores, conns: newIncoming(l.Addr())}
	s.grpc = grpc.NewServer(grpc.ForceServerCodec(codec{}), grpc.StatsHandler(s), grpc.WaitForHandlers(true),
		grpc.MaxRecvMsgSize(mostFrame), grpc.MaxSendMsgSize(mostFrame), grpc.MaxConcurrentStreams(math.MaxUint32),
		grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(16*window),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: quiet, Timeout: patience}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: quiet / 2, PermitWithoutStream: true}))
	s.grpc.RegisterService(&grpc.ServiceDesc{ServiceName: service, HandlerType: (*any)(nil), Streams: streams}, s)
	s.active.Go(func() { _ = s.grpc.Serve(s.conns) }) // it ends with Close
	l.Handle(kind, s.conns.handle)
	return s
}

// Close cuts the connections, and returns when no call is under way and the owners of the others have ended.
func (s *Server) Close() {
	s.link.Handle(kind, nil)
	s.grpc.Stop()
	s.active.Wait()
}

type sessionKey struct{}

func sessionOf(ctx context.Context) *session { return ctx.Value(sessionKey{}).(*session) }

// TagConn implements stats.Handler.
func (s *Server) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	return context.WithValue(ctx, sessionKey{}, &session{owners: map[ownerKey]queue.Owner{}})
}

// HandleConn implements stats.Handler.
func (s *Server) HandleConn(ctx context.Context, what stats.ConnStats) {
	if _, ends := what.(*stats.ConnEnd); ends {
		s.active.Go(sessionOf(ctx).end)
	}
}

// TagRPC implements stats.Handler.
func (s *Server) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (s *Server) HandleRPC(context.Context, stats.RPCStats) {}

// incoming is a net.Listener of the connections that come through a link.
type incoming struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

func newIncoming(addr net.Addr) *incoming {
	in := &incoming{addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
	in.close = sync.OnceFunc(func() { close(in.closed) })
	return in
}

// handle hands a connection over, and returns when it was closed.
func (in *incoming) handle(ctx context.Context, _ string, c net.Conn) {
	one := &incomingConn{Conn: c, closed: make(chan struct{})}
	one.close = sync.OnceFunc(func() { close(one.closed) })
	select {
	case in.conns <- one:
	case <-in.closed:
		return
	case <-ctx.Done():
		return
	}
	<-one.closed
}

// Accept implements net.Listener.
func (in *incoming) Accept() (net.Conn, error) {
	select {
	case c := <-in.conns:
		return c, nil
	case <-in.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (in *incoming) Close() error {
	in.close()
	return nil
}

// Addr implements net.Listener.
func (in *incoming) Addr() net.Addr { return in.addr }

// incomingConn tells when it is closed.
type incomingConn struct {
	net.Conn
	closed chan struct{}
	close  func()
}

// Close implements net.Conn.
func (c *incomingConn) Close() error {
	err := c.Conn.Close()
	c.close()
	return err
}
