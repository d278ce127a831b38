package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/link"
)

// mostOffered is how many connections of a door a node offers the owner at once that the owner's door has not taken:
// each takes the owner a file. More wait where they came in.
const mostOffered = 32

// PassageBytes is some more than the memory that a connection takes which is passed on.
const PassageBytes = 128 << 10

// DoorKind is the kind of the streams that carry connections from the node where they came in to the owner.
const DoorKind = "door"

// FrontOptions say what a front does.
type FrontOptions struct {
	Node string
	Link *link.Listener
	// Most is how many connections of each door may wait for an owner or be passed on at once; more wait before they
	// are accepted. 0: 4096.
	Most int
	// Wait is how long a connection waits for somebody to own the shard; 0: 5 s. Then it is closed.
	Wait time.Duration
	// Report is told what a person should know. It may be called from several goroutines. nil: nobody is told.
	Report func(error)
}

// Front has the addresses of the doors, and brings connections to the node that owns the shard. Its methods may be
// called from any goroutine.
type Front struct {
	o      FrontOptions
	ctx    context.Context
	cancel context.CancelFunc
	active sync.WaitGroup
	spares spares

	taken, unowned     atomic.Uint64
	ofUnowned, ofFiles link.Seldom // reports

	mu       sync.Mutex
	owner    link.Peer     // without a name: nobody
	turned   chan struct{} // closed when the owner is another one, or a landing is
	landings map[string]*landing
	sockets  map[string]net.Listener
	further  []net.Listener // of doors that are in sockets
	entries  map[string]*entrance
	underWay map[*passage]struct{}
	arrivals map[string]arrivals // by the node that passes them on
}

// arrivals are the connections that another node has passed on to this one.
type arrivals struct {
	open int
	all  uint64
}

// Door says what is special of one.
type Door struct {
	// Live answers requests of HTTP for /livez at a node that does not own the shard, or whose house is not open.
	Live bool
}

// entrance is a door's address at this node.
type entrance struct {
	Door
	name   string
	places chan struct{} // has a token for each connection that waits for an owner or is passed on
	offers chan struct{} // has a token for each connection that is offered and not taken
}

// NewFront makes one to which the other nodes can pass connections on.
func NewFront(o FrontOptions) *Front {
	if o.Most <= 0 {
		o.Most = 4096
	}
	if o.Wait <= 0 {
		o.Wait = 5 * time.Second
	}
	if o.Report == nil {
		o.Report = func(error) {}
	}
	f := &Front{o: o, turned: make(chan struct{}), landings: map[string]*landing{}, sockets: map[string]net.Listener{},
		entries: map[string]*entrance{}, underWay: map[*passage]struct{}{}, arrivals: map[string]arrivals{}}
	f.spares.f = f
	f.ctx, f.cancel = context.WithCancel(context.Background())
	o.Link.Handle(DoorKind, f.arrive)
	return f
}

// keepAlive notices within a minute and a half that a client's machine is gone.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}

// Open opens the address of a door, and keeps it until Close. ctx bounds Open alone.
func (f *Front) Open(ctx context.Context, name, addr string, d Door) (net.Addr, error) {
	lc := net.ListenConfig{KeepAliveConfig: keepAlive}
	socket, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%s door: cannot listen on %s: %w", name, addr, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		return nil, errors.Join(net.ErrClosed, socket.Close())
	}
	places := max(f.o.Most, 2) // an address and a socket hold one each while they wait for a connection
	e := &entrance{d, name, make(chan struct{}, places), make(chan struct{}, f.offered())}
	f.sockets[name], f.entries[name] = socket, e
	f.active.Go(func() { f.accept(e, socket) })
	return socket.Addr(), nil
}

// Add brings what comes to a socket in the file system to a door that is open, too. Close closes the socket.
func (f *Front) Add(name string, socket net.Listener) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.entries[name]
	if e == nil || f.ctx.Err() != nil {
		return errors.Join(fmt.Errorf("%s door: %w", name, net.ErrClosed), socket.Close())
	}
	f.further = append(f.further, socket)
	f.active.Go(func() { f.accept(e, socket) })
	return nil
}

// Doors are those that are open, in order.
func (f *Front) Doors() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.sockets))
}

// Files is how many files, at most, connections take at a node that owns the shard before its doors have them: those
// that came in here, those that four other nodes offer, and streams that wait for clients.
func (f *Front) Files() uint64 {
	const peers = 4 // a cluster of more has its reasons, and more files
	return uint64(len(f.Doors())*(f.o.Most+peers*f.offered()) + peers*mostSpares)
}

// offered is how many connections of a door are offered to the owner at once.
func (f *Front) offered() int { return max(1, min(mostOffered, f.o.Most/8)) }

// Land makes the listener of a door of this node's house: it has the connections that come in here and those that other
// nodes pass on, from now on and until it is closed. There is one of each door at a time.
func (f *Front) Land(name string) (net.Listener, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	socket := f.sockets[name]
	if socket == nil || f.ctx.Err() != nil {
		return nil, fmt.Errorf("%s door: %w", name, net.ErrClosed)
	}
	l := &landing{addr: socket.Addr(), conns: make(chan *landed), closed: make(chan struct{})}
	f.landings[name] = l
	f.tell()
	return l, nil
}

// Turn says who owns the shard from now on, and where it is reached; without a name: nobody. Connections that were
// passed on to another node are cut.
func (f *Front) Turn(owner link.Peer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if owner == f.owner {
		return
	}
	f.owner = owner
	f.spares.turn(owner)
	f.tell()
	for p := range f.underWay {
		if p.to != owner {
			p.cut()
		}
	}
}

// tell wakes those who wait for an owner. The lock is held.
func (f *Front) tell() {
	close(f.turned)
	f.turned = make(chan struct{})
}

// now is who owns the shard, the landing that a door has here, and a channel that is closed when one of them changes.
func (f *Front) now(door string) (owner link.Peer, l *landing, turned <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.owner, f.landings[door], f.turned
}

// Close closes the doors' addresses and cuts what was passed on. The house is closed before. A second call does
// nothing.
func (f *Front) Close() {
	f.o.Link.Handle(DoorKind, nil)
	f.mu.Lock()
	f.cancel()
	f.spares.turn(link.Peer{})
	for _, s := range append(slices.Collect(maps.Values(f.sockets)), f.further...) {
		_ = s.Close() // nobody comes in any more
	}
	for p := range f.underWay {
		p.cut()
	}
	f.mu.Unlock()
	f.active.Wait()
}

// accept takes what comes to a door's address.
func (f *Front) accept(e *entrance, socket net.Listener) {
	for {
		select {
		case e.places <- struct{}{}:
		case <-f.ctx.Done():
			return
		}
		c, err := socket.Accept()
		if err != nil {
			if f.ctx.Err() != nil {
				return
			}
			<-e.places
			if f.ofFiles.Due() {
				f.o.Report(fmt.Errorf("%s door: accept a connection: %w", e.name, err))
			}
			select {
			case <-time.After(100 * time.Millisecond): // there may be a file for it then
			case <-f.ctx.Done():
				return
			}
			continue
		}
		f.active.Go(func() {
			defer func() { <-e.places }()
			f.bring(e, c)
		})
	}
}

// landing is the listener of a door of this node's house.
type landing struct {
	addr   net.Addr
	conns  chan *landed
	once   sync.Once
	closed chan struct{}
}

// landed is a connection for a landing. ready, if set, is called by who accepts it; after an error it is no connection.
type landed struct {
	net.Conn
	ready func() error
}

// Accept implements net.Listener.
func (l *landing) Accept() (net.Conn, error) {
	for {
		select {
		case c := <-l.conns:
			if c.ready == nil || c.ready() == nil {
				return c.Conn, nil
			}
			_ = c.Conn.Close() // the node that passed it on is gone
		case <-l.closed:
			return nil, net.ErrClosed
		}
	}
}

// Close implements net.Listener.
func (l *landing) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *landing) Addr() net.Addr { return l.addr }

func (l *landing) over() bool {
	select {
	case <-l.closed:
		return true
	default:
		return false
	}
}

// hand gives a connection to this node's house. It waits for one until late is closed, and then until a door takes
// it, as long as this node owns the shard. False: the connection is still the caller's.
func (f *Front) hand(ctx context.Context, late <-chan struct{}, door string, c *landed) bool {
	for {
		owner, l, turned := f.now(door)
		if owner.Node != f.o.Node {
			return false
		}
		if l == nil || l.over() {
			select {
			case <-turned:
				continue
			case <-late:
				return false
			case <-ctx.Done():
				return false
			}
		}
		select {
		case l.conns <- c:
			return true
		case <-l.closed:
		case <-turned:
		case <-ctx.Done():
			return false
		}
	}
}
