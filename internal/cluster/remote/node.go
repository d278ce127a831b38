package remote

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	"github.com/hikyaku/hikyaku/internal/link"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Node is another node, whose stores are asked over one connection. It connects when it is first asked, and again after
// the connection has ended. Its methods may be called from any goroutine.
type Node struct {
	peer   link.Peer
	conn   *grpc.ClientConn
	owners atomic.Uint64

	mu     sync.Mutex
	closed bool
	active sync.WaitGroup
}

// Dial makes one. Nothing is connected yet. Close it.
func Dial(d *link.Dialer, peer link.Peer) (*Node, error) {
	conn, err := grpc.NewClient("passthrough:///"+peer.Node,
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return d.Dial(ctx, peer, kind)
		}),
		grpc.WithTransportCredentials(insecure.NewCredentials()), // the link has proved who both are, and encrypts
		grpc.WithDefaultCallOptions(grpc.ForceCodec(codec{}), grpc.MaxCallRecvMsgSize(mostFrame),
			grpc.MaxCallSendMsgSize(mostFrame)),
		grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(16*window),
		grpc.WithIdleTimeout(0), // owners end with the connection
		grpc.WithDisableServiceConfig(),
		grpc.WithConnectParams(grpc.ConnectParams{MinConnectTimeout: patience, Backoff: backoff.Config{
			BaseDelay: 50 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second}}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: quiet, Timeout: patience, PermitWithoutStream: true}))
	if err != nil {
		return nil, err
	}
	return &Node{peer: peer, conn: conn}, nil
}

// Close ends the connection: calls under way end, and the owners. A second Close does nothing.
func (n *Node) Close() error {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return nil
	}
	n.closed = true
	n.mu.Unlock()
	err := n.conn.Close()
	n.active.Wait()
	return err
}

// Shard is the store of a shard there. resolve gives a name its namespace's first name, as queue.Options.Namespaces
// says at all nodes; nil: all stay as they are.
func (n *Node) Shard(shard int, resolve func(queue.Name) queue.Name) *Store {
	if resolve == nil {
		resolve = func(n queue.Name) queue.Name { return n }
	}
	return &Store{node: n, shard: shard, resolve: resolve}
}

// finish confirms an answer. A stream is gone when its end has come, for which the caller does not wait.
func (n *Node) finish(stream grpc.ClientStream, cancel func()) {
	_ = stream.CloseSend() // it always succeeds
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		cancel()
		return
	}
	n.active.Go(func() {
		defer cancel()
		for stream.RecvMsg(&reply{}) == nil {
			continue // nothing follows an answer but the end
		}
	})
}

// Store is the store of a shard that another node has. Its methods may be called from any goroutine; what they do, and
// their errors, are those of the store, see the package's comment for the others.
type Store struct {
	node    *Node
	shard   int
	resolve func(queue.Name) queue.Name
}

var _ queue.Shard = (*Store)(nil)

// Resolve implements queue.Service.
func (s *Store) Resolve(n queue.Name) queue.Name { return s.resolve(n) }
