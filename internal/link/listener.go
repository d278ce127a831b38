package link

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Options say who a node is.
type Options struct {
	Listen  string // address and port
	Cluster string
	Node    string
	Secret  string
	// Report is told what a person should know: of strangers, and of connections that cannot be accepted, at most once
	// a minute. nil: nobody is told. It may be called from several goroutines.
	Report func(error)
}

// Handler has a stream of a peer, a node's name, or "" for a command. The connection is closed when it returns. ctx
// ends with the listener.
type Handler func(ctx context.Context, peer string, c net.Conn)

// Listener is where a node can be reached. Its methods may be called from any goroutine.
type Listener struct {
	o      Options
	tcp    net.Listener
	config *tls.Config
	dialer *Dialer
	ctx    context.Context
	cancel context.CancelFunc
	active sync.WaitGroup

	ofStrangers, ofFiles Seldom // reports

	mu        sync.Mutex
	closed    bool
	handlers  map[string]Handler
	strangers list.List // of *stranger, the oldest first
	conns     map[net.Conn]struct{}
}

// keepAlive notices within half a minute that a machine is gone.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 4}

// Listen opens the address. ctx bounds Listen alone: Close ends what it began.
func Listen(ctx context.Context, o Options) (*Listener, error) {
	dialer, err := NewDialer(o)
	if err != nil {
		return nil, err
	}
	if err := CheckName(o.Node); err != nil {
		return nil, fmt.Errorf("node: %w", err)
	}
	lc := net.ListenConfig{KeepAliveConfig: keepAlive}
	tcp, err := lc.Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("the node cannot listen for its peers on %s: %w", o.Listen, err)
	}
	if o.Report == nil {
		o.Report = func(error) {}
	}
	l := &Listener{o: o, tcp: tcp, config: dialer.config, dialer: dialer, handlers: map[string]Handler{},
		conns: map[net.Conn]struct{}{}}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.active.Go(func() { l.accept(tcp) })
	return l, nil
}

// Addr is where it listens, with the port that was found when Options ask for port 0.
func (l *Listener) Addr() net.Addr { return l.tcp.Addr() }

// Dialer connects to the peers as the same node.
func (l *Listener) Dialer() *Dialer { return l.dialer }

// Handle has streams of a kind from now on; nil: nobody has any more. Those of a kind that nobody has are refused.
func (l *Listener) Handle(kind string, h Handler) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h == nil {
		delete(l.handlers, kind)
		return
	}
	l.handlers[kind] = h
}

// Close stops listening, cuts all connections and waits for the handlers to return. A second call does nothing.
func (l *Listener) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.cancel()
	err := l.tcp.Close()
	for c := range l.conns {
		_ = c.Close() // it is cut
	}
	l.mu.Unlock()
	l.active.Wait()
	return err
}

func (l *Listener) accept(tcp net.Listener) {
	for {
		c, err := tcp.Accept()
		switch {
		case err == nil:
			l.enter(c)
		case l.ctx.Err() != nil:
			return
		default: // there may be no file left for it
			if l.ofFiles.Due() {
				l.o.Report(fmt.Errorf("accept a connection: %w", err))
			}
			select {
			case <-time.After(100 * time.Millisecond):
			case <-l.ctx.Done():
				return
			}
		}
	}
}

// enter begins to find out who a connection is.
func (l *Listener) enter(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = c.Close() // it has been told nothing yet
		return
	}
	if l.strangers.Len() >= mostStrangers {
		one := l.crowded()
		_ = one.Value.(*stranger).Close() // its goroutine notices
		l.strangers.Remove(one)
	}
	place := l.strangers.PushBack(&stranger{c, networkOf(c)})
	l.conns[c] = struct{}{}
	known := sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.strangers.Remove(place) // nothing happens if it was removed
	})
	l.active.Go(func() {
		defer func() {
			known()
			_ = c.Close() // whoever had it is done
			l.mu.Lock()
			delete(l.conns, c)
			l.mu.Unlock()
		}()
		if err := l.meet(c, known); err != nil && l.ctx.Err() == nil && l.ofStrangers.Due() {
			l.o.Report(fmt.Errorf("a connection from %s to the node's port: %w", c.RemoteAddr(), err))
		}
	})
}

// stranger is a connection that has not said who it is.
type stranger struct {
	net.Conn
	network netip.Prefix
}

// networkOf is the part of an address that who has it cannot choose: of IPv6 the first half.
func networkOf(c net.Conn) netip.Prefix {
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	addr := tcp.AddrPort().Addr().Unmap()
	network, _ := addr.Prefix(min(addr.BitLen(), 64)) // as many bits as it has at most
	return network
}

// crowded is the oldest stranger of the network that has the most of them. The lock is held; there are some.
func (l *Listener) crowded() (oldest *list.Element) {
	count, most := map[netip.Prefix]int{}, 0
	for e := l.strangers.Front(); e != nil; e = e.Next() {
		n := e.Value.(*stranger).network
		count[n]++
		most = max(most, count[n])
	}
	for oldest = l.strangers.Front(); count[oldest.Value.(*stranger).network] < most; oldest = oldest.Next() {
	}
	return oldest
}

// meet finds out who a connection is, and gives it to who has streams of its kind.
func (l *Listener) meet(c net.Conn, known func()) error {
	if err := c.SetDeadline(time.Now().Add(strangerTime)); err != nil {
		return err
	}
	few := &fewBytes{Conn: c}
	few.left.Store(strangerBytes)
	secure := tls.Server(few, l.config)
	if err := secure.HandshakeContext(l.ctx); err != nil {
		return err
	}
	h, err := readHello(secure)
	if err != nil {
		return err
	}
	few.left.Store(endless)
	known()
	handler, reason := l.handler(h)
	a := answer{node: l.o.Node, reason: reason}
	if _, err := secure.Write(a.bytes()); err != nil {
		return err
	}
	if reason != "" {
		return errors.Join(fmt.Errorf("%w of %q: %s", ErrRefused, h.node, reason), secure.Close())
	}
	if err := c.SetDeadline(time.Time{}); err != nil {
		return err
	}
	defer secure.Close()
	handler(l.ctx, h.node, secure)
	return nil
}

// handler is who has such streams, or why nobody has.
func (l *Listener) handler(h hello) (handler Handler, reason string) {
	switch {
	case h.cluster != l.o.Cluster: // it has the key all the same
		return nil, "this is a node of another cluster"
	case h.node == l.o.Node:
		return nil, "it says that it is the node that it has reached, " + l.o.Node
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if handler = l.handlers[h.kind]; handler == nil {
		return nil, "nobody here takes " + h.kind
	}
	return handler, ""
}

// endless is more than any connection reads.
const endless = int64(1) << 62

// fewBytes is a connection that ends after some bytes were read.
type fewBytes struct {
	net.Conn
	left atomic.Int64
}

// Read implements net.Conn.
func (f *fewBytes) Read(b []byte) (int, error) {
	left := f.left.Load()
	if left <= 0 {
		return 0, errors.New("it says too much before it has said who it is")
	}
	n, err := f.Conn.Read(b[:min(int64(len(b)), left)])
	if left < endless {
		f.left.Add(-int64(n))
	}
	return n, err
}
