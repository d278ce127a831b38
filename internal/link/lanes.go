package link

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"time"
)

// The lanes that there are to each peer. Each is a connection of its own, so that what is urgent does not wait behind
// what is large.
const (
	Urgent = "raft"    // votes, heartbeats
	Bulky  = "raftlog" // entries, snapshots
)

// Kinds are the lanes.
var Kinds = []string{Urgent, Bulky}

// How a lane keeps itself alive.
const (
	// A connection of which nothing comes for so long is cut, and each end says so many times as often that it lives.
	defaultSilence = 4 * time.Second
	beats          = 8
	// It connects again after a pause, which doubles.
	firstPause, lastPause = 50 * time.Millisecond, time.Second
)

// DefaultQueueBytes bounds what waits in a lane unless LaneOptions say otherwise.
const DefaultQueueBytes = 64 << 20

// LaneOptions say what lanes do.
type LaneOptions struct {
	Listener *Listener // has the incoming ones; its owner closes it after the lanes
	Peers    []Peer    // all other nodes
	// Receive has each frame that comes, in the order in which a peer sent it in a lane. It is called from one
	// goroutine for each lane of each peer, and holds up that lane alone. The frame belongs to it.
	Receive func(peer, kind string, frame []byte)
	// Lost is told of a frame that Send took and that may not have arrived. Like Send it is called while somebody
	// waits: it must not block, and must not call Lanes. nil: nobody is told.
	Lost func(peer, kind string, frame []byte)
	// Report is told when a peer is away, and when it is there again. nil: nobody is told.
	Report func(error)
	// Silence is after how long a peer of which nothing comes is connected to anew; 0: 4 s. It is the same at all
	// nodes.
	Silence    time.Duration
	QueueBytes int // what may wait in a lane; 0: DefaultQueueBytes. One frame may wait whatever its size
}

// Lanes carry messages between the nodes. Its methods may be called from any goroutine.
type Lanes struct {
	o      LaneOptions
	ctx    context.Context
	cancel context.CancelFunc
	active sync.WaitGroup

	mu    sync.Mutex
	lanes map[string]map[string]*lane // by peer and kind
}

// NewLanes connects to the peers, and has what they send from now on.
func NewLanes(o LaneOptions) *Lanes {
	if o.QueueBytes <= 0 {
		o.QueueBytes = DefaultQueueBytes
	}
	if o.Silence <= 0 {
		o.Silence = defaultSilence
	}
	if o.Report == nil {
		o.Report = func(error) {}
	}
	l := &Lanes{o: o, lanes: map[string]map[string]*lane{}}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	for _, kind := range Kinds {
		o.Listener.Handle(kind, func(ctx context.Context, peer string, c net.Conn) { l.receive(ctx, peer, kind, c) })
	}
	l.SetPeers(o.Peers)
	return l
}

// SetPeers makes these the other nodes. Those that were left out get nothing more; what waits for them is lost.
func (l *Lanes) SetPeers(peers []Peer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		return
	}
	for name, kinds := range l.lanes {
		if !slices.ContainsFunc(peers, func(p Peer) bool { return p.Node == name && p == kinds[Urgent].peer }) {
			for _, one := range kinds {
				one.cancel()
			}
			delete(l.lanes, name)
		}
	}
	for _, p := range peers {
		if l.lanes[p.Node] != nil || p.Node == l.o.Listener.o.Node {
			continue
		}
		l.lanes[p.Node] = map[string]*lane{}
		for _, kind := range Kinds {
			one := newLane(l, p, kind)
			l.lanes[p.Node][kind] = one
			l.active.Go(one.run)
		}
	}
}

// Send sends a frame to a peer, and returns at once. It is the lane's then. False: the peer is away, or too much waits
// for it already, or there is no such peer; the frame is not sent.
func (l *Lanes) Send(peer, kind string, frame []byte) bool {
	l.mu.Lock()
	one := l.lanes[peer][kind]
	l.mu.Unlock()
	return one != nil && len(frame) > 0 && len(frame) <= MostFrame && one.put(frame)
}

// Connected are the peers to which every lane is open, in order.
func (l *Lanes) Connected() (peers []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(l.lanes)) {
		all := true
		for _, one := range l.lanes[name] {
			all = all && one.up()
		}
		if all {
			peers = append(peers, name)
		}
	}
	return peers
}

// Close ends the lanes and waits until nobody is called any more. What waits is lost. A second call does nothing.
func (l *Lanes) Close() {
	for _, kind := range Kinds {
		l.o.Listener.Handle(kind, nil)
	}
	l.mu.Lock()
	l.cancel()
	l.mu.Unlock()
	l.active.Wait()
}

// enter counts somebody who works for the lanes, unless they have ended.
func (l *Lanes) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		return false
	}
	l.active.Add(1)
	return true
}

// receive has a lane of a peer.
func (l *Lanes) receive(ctx context.Context, peer, kind string, c net.Conn) {
	if !l.enter() {
		return
	}
	defer l.active.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var sides sync.WaitGroup
	defer sides.Wait()
	defer c.Close()
	defer context.AfterFunc(l.ctx, cancel)()
	defer context.AfterFunc(ctx, func() { cut(c) })()
	sides.Go(func() { // the peer sees that its frames come to somebody
		defer cancel()
		l.beat(ctx, &hurried{c, l.o.Silence})
	})
	r := bufio.NewReaderSize(&hurried{c, l.o.Silence}, 64<<10)
	for ctx.Err() == nil {
		frame, err := readFrame(r)
		if err != nil {
			break // the peer connects again
		}
		if len(frame) > 0 {
			l.o.Receive(peer, kind, frame)
		}
	}
	cancel()
}

// beat says that this end lives, until ctx ends or nobody hears it.
func (l *Lanes) beat(ctx context.Context, w io.Writer) {
	tick := time.NewTicker(l.o.Silence / beats)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if writeFrame(w, nil) != nil {
				return
			}
		}
	}
}

// cut ends a connection at once, whoever reads or writes.
func cut(c net.Conn) {
	if inner, ok := c.(interface{ NetConn() net.Conn }); ok { // else TLS would say farewell, and wait for that
		c = inner.NetConn()
	}
	_ = c.Close() // nobody needs it
}

// errSilent: nothing came from the other end for a while.
var errSilent = errors.New("it does not answer")

// lane is one to a peer.
type lane struct {
	of     *Lanes
	peer   Peer
	kind   string
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	open   bool
	frames [][]byte
	bytes  int
	wake   chan struct{} // holds a token while frames may wait
}

func newLane(l *Lanes, p Peer, kind string) *lane {
	one := &lane{of: l, peer: p, kind: kind, wake: make(chan struct{}, 1)}
	one.ctx, one.cancel = context.WithCancel(l.ctx)
	return one
}

func (l *lane) up() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

func (l *lane) put(frame []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open || l.bytes > 0 && l.bytes+len(frame) > l.of.o.QueueBytes {
		return false
	}
	l.frames, l.bytes = append(l.frames, frame), l.bytes+len(frame)
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return true
}

// run keeps the lane connected.
func (l *lane) run() {
	defer l.cancel()
	pause, away := firstPause, false
	for l.ctx.Err() == nil {
		c, err := l.of.o.Listener.Dialer().Dial(l.ctx, l.peer, l.kind)
		if err == nil {
			if away {
				l.tell(fmt.Errorf("node %s is there again", l.peer.Node))
			}
			pause, away = firstPause, false
			err = fmt.Errorf("node %s at %s is away: %w", l.peer.Node, l.peer.Address, l.carry(c))
		}
		if l.ctx.Err() != nil {
			return
		}
		if !away {
			away = true
			l.tell(err)
		}
		select {
		case <-time.After(pause):
		case <-l.ctx.Done():
		}
		pause = min(2*pause, lastPause)
	}
}

// tell reports of one lane of a peer: the others fare alike.
func (l *lane) tell(err error) {
	if l.kind == Urgent {
		l.of.o.Report(err)
	}
}

// carry sends what is put into the lane until the connection ends.
func (l *lane) carry(c net.Conn) (why error) {
	ctx, cancel := context.WithCancelCause(l.ctx)
	defer context.AfterFunc(ctx, func() { cut(c) })()
	var sides sync.WaitGroup
	defer sides.Wait()
	defer c.Close()
	sides.Go(func() {
		_, err := io.Copy(io.Discard, &hurried{c, l.of.o.Silence})
		cancel(errors.Join(errSilent, err))
	})
	l.mu.Lock()
	l.open = true
	l.mu.Unlock()
	// A write may take as long as the peer says that it lives: it may be busy.
	err := l.write(ctx, c)
	cancel(err)
	return context.Cause(ctx)
}

func (l *lane) write(ctx context.Context, c io.Writer) (err error) {
	w := bufio.NewWriterSize(c, 64<<10)
	tick := time.NewTicker(l.of.o.Silence / beats)
	defer tick.Stop()
	var sending [][]byte
	defer func() { l.drop(sending) }()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.wake:
		case <-tick.C:
			err = writeFrame(w, nil)
		}
		for sending = l.take(); err == nil && len(sending) > 0; sending = l.take() {
			if err = writeAll(w, sending, l.sent); err != nil {
				return err
			}
		}
		if err == nil {
			err = w.Flush()
		}
		if err != nil {
			return err
		}
	}
}

// writeAll writes frames and sends them, and calls sent with the size of each.
func writeAll(w *bufio.Writer, frames [][]byte, sent func(int)) error {
	for _, frame := range frames {
		if err := writeFrame(w, frame); err != nil {
			return err
		}
		sent(len(frame))
	}
	return w.Flush()
}

// take takes all frames that wait. They count until they are sent.
func (l *lane) take() (frames [][]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	frames, l.frames = l.frames, nil
	return frames
}

func (l *lane) sent(bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.bytes -= bytes
}

// drop closes the lane, and loses what was being sent and what waits.
func (l *lane) drop(sending [][]byte) {
	l.mu.Lock()
	lost := append(sending, l.frames...)
	l.open, l.frames, l.bytes = false, nil, 0
	l.mu.Unlock()
	if l.of.o.Lost != nil {
		for _, frame := range lost {
			l.of.o.Lost(l.peer.Node, l.kind, frame)
		}
	}
}
