package pubsub

import (
	"context"
	"runtime"
	"sync/atomic"

	"google.golang.org/grpc/mem"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/door"
)

const (
	// uncounted is the bytes of messages up to which an answer is not counted: a stream holds two of them at most. The
	// same holds for what a request takes beside its own bytes.
	uncounted = 16 << 10
	// What a larger answer takes, in the sizes of its messages: their bodies and what is written of them; where it may
	// be made JSON, what that takes besides.
	streamCost, pullCost = 3, 6
)

// more takes n bytes that a request takes beside its own, which it holds already: so they are not waited for. The
// caller calls give when it does not need them any more. what takes them stands in the error, door.ErrBusy.
func (d *Server) more(n int64, what string) (give func(), err error) {
	if n <= uncounted {
		return func() {}, nil
	}
	if err := d.busy.TryMore(n, what); err != nil {
		return nil, err
	}
	return func() { d.busy.Give(n) }, nil
}

// room takes what an answer takes, until it was written. One that has more than there can be is made alone.
func (t *taker) room(ctx context.Context, sum, _ int64) error {
	if t.asks && !t.d.users.Allowed(t.user, access.Take, t.from) { // it was taken away while the claim waited
		return notGranted(access.Take, resource{t.from.Namespace, kindSubscription, t.from.Name})
	}
	if sum <= uncounted {
		return nil
	}
	return t.hold.Take(ctx, min(t.cost*sum, t.hold.Of.Limit()))
}

// counted makes a frame keep what its messages took until gRPC has written it or thrown it away.
func counted(f *frame, hold *door.Hold) *frame {
	n := hold.Leave()
	if n == 0 {
		return f
	}
	p := &paper{of: hold.Of}
	p.left.Store(n)
	held := &heldPool{paper: p, data: f.data}
	runtime.AddCleanup(held, (*paper).give, p) // should gRPC ever lose it
	f.data = mem.BufferSlice{mem.NewBuffer(held.whole(), held)}
	return f
}

// paper is what a frame has taken.
type paper struct {
	of   *door.Busy
	left atomic.Int64
}

func (p *paper) give() { p.of.Give(p.left.Swap(0)) }

// heldPool is told when the one buffer of a frame is no longer needed.
type heldPool struct {
	paper *paper
	data  mem.BufferSlice
}

// whole is the frame's only buffer.
func (h *heldPool) whole() *[]byte {
	b := h.data[0].ReadOnlyData()
	return &b
}

// Get implements mem.BufferPool. Nobody asks.
func (h *heldPool) Get(n int) *[]byte { return mem.DefaultBufferPool().Get(n) }

// Put implements mem.BufferPool.
func (h *heldPool) Put(*[]byte) {
	h.data.Free()
	h.paper.give()
}
