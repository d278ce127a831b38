package pubsub

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
)

// goodbye is how the client of a stream leaves. The methods may be called with nil, which is for a connection of which
// nothing is known.
type goodbye struct {
	said  atomic.Bool   // the client has ended the stream, or its side of it
	gone  atomic.Bool   // and reads nothing any more, or its connection is lost
	heard chan struct{} // closed when all has been read that the client said before

	half  bool // the client's side is ended, for gRPC; goodbyes.mu is held
	reset bool // gRPC does not know yet that the stream is
}

// over tells whether nothing more is for the client.
func (g *goodbye) over() bool { return g != nil && (g.said.Load() || g.gone.Load()) }

// deaf tells whether the client reads nothing any more.
func (g *goodbye) deaf() bool { return g != nil && g.gone.Load() }

// parted tells whether the client has ended the stream itself.
func (g *goodbye) parted() bool { return g != nil && g.said.Load() }

// goodbyes are those of the streams of a connection. gRPC cancels a call when it reads that its client has ended the
// stream, or that the connection is lost, and then half of the time does not give out what came before: a client that
// acknowledges and leaves is not heard. So for the streams that are watched gRPC reads first that the client has ended
// its side, behind what it said, and the rest when that has been read.
type goodbyes struct {
	mu      sync.Mutex
	watched map[uint32]*goodbye // by the number of the stream
	resets  []uint32            // streams of which gRPC is to read next that they are reset
}

// watch begins to look for the end of a stream.
func (w *goodbyes) watch(stream uint32) *goodbye {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watched == nil {
		w.watched = map[uint32]*goodbye{}
	}
	g := &goodbye{heard: make(chan struct{})}
	w.watched[stream] = g
	return g
}

// unwatch ends it, when all has been read that there is. It tells whether the connection has resets to read. Another
// call is nothing.
func (w *goodbyes) unwatch(stream uint32) (more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.watched[stream]
	if g == nil {
		return false
	}
	close(g.heard)
	delete(w.watched, stream)
	if g.reset {
		w.resets = append(w.resets, stream)
	}
	return g.reset
}

// takeResets fills b with frames that reset streams.
func (w *goodbyes) takeResets(b []byte) (n int, streams []uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := min(len(w.resets), len(b)/(frameHeader+resetLength))
	streams, w.resets = w.resets[:k:k], w.resets[k:]
	for _, stream := range streams {
		frame := b[n : n+frameHeader+resetLength]
		copy(frame, []byte{0, 0, resetLength, typeReset, 0})
		binary.BigEndian.PutUint32(frame[5:], stream)
		binary.BigEndian.PutUint32(frame[frameHeader:], uint32(http2.ErrCodeCancel))
		n += len(frame)
	}
	return n, streams
}

// halfClosed is told that the client has ended its side of a stream.
func (w *goodbyes) halfClosed(stream uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if g := w.watched[stream]; g != nil {
		g.said.Store(true)
		g.half = true
	}
}

// cut is told that the client has ended a stream before its time, and puts in the place of the frame, which has the
// length of a reset, one that ends the client's side: data of nothing but padding. Where it is ended already, one that
// means nothing: a window one byte larger. false: the stream is not watched.
func (w *goodbyes) cut(stream uint32, frame []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.watched[stream]
	if g == nil || len(frame) < frameHeader+resetLength || binary.BigEndian.Uint32(frame)>>8 != resetLength {
		return false
	}
	g.gone.Store(true)
	g.said.Store(true)
	if g.half {
		frame[3], frame[4] = typeWindow, 0
		binary.BigEndian.PutUint32(frame[frameHeader:], 1)
	} else {
		frame[3], frame[4] = typeData, endStream|padded
		binary.BigEndian.PutUint32(frame[frameHeader:], (resetLength-1)<<24)
	}
	g.half, g.reset = true, true
	return true
}

// hearing is how long what clients said before their connection was lost may take to be read.
const hearing = time.Second

// lost is told that a connection cannot be read any more. It fills b with frames that end the client's side of the
// streams; the next time, when there is none left, it waits until what came before has been read.
func (w *goodbyes) lost(b []byte, err error) (n int) {
	if errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
		return 0 // it was us
	}
	var all []*goodbye
	w.mu.Lock()
	for stream, g := range w.watched {
		if !g.half && n+frameHeader <= len(b) {
			frame := b[n : n+frameHeader]
			copy(frame, []byte{0, 0, 0, typeData, endStream})
			binary.BigEndian.PutUint32(frame[5:], stream)
			n += frameHeader
			g.half = true
		}
		g.gone.Store(true)
		all = append(all, g)
	}
	w.mu.Unlock()
	if n > 0 || len(all) == 0 {
		return n
	}
	timer := time.NewTimer(hearing)
	defer timer.Stop()
	for _, g := range all {
		select {
		case <-g.heard:
		case <-timer.C:
			return 0
		}
	}
	return 0
}

// watchGoodbye looks for the end of the stream of a call. Nobody but gRPC knows its number, which is read from its
// type. unwatch is called when all has been read of it, and may be called again.
func watchGoodbye(ctx context.Context) (g *goodbye, unwatch func()) {
	p, _ := peer.FromContext(ctx)
	stream := reflect.Indirect(reflect.ValueOf(grpc.ServerTransportStreamFromContext(ctx)))
	if p == nil || stream.Kind() != reflect.Struct {
		return nil, func() {}
	}
	a, _ := p.Addr.(*knownAddr)
	number := stream.FieldByName("id")
	if a == nil || a.frames == nil || number.Kind() != reflect.Uint32 {
		return nil, func() {}
	}
	id := uint32(number.Uint())
	return a.frames.watch(id), func() {
		if a.frames.unwatch(id) {
			a.frames.wake()
		}
	}
}
