package pubsub

import (
	"context"
	"sync"
)

// turn is a stream's place among those who wait for messages of a subscription. A stream that gives messages back goes
// to the end of them.
type turn struct {
	mu   sync.Mutex
	ctx  context.Context // to wait with; nil: none was needed yet
	cut  context.CancelFunc
	left chan struct{} // closed when the wait is over; nil: nobody waits
}

// begin is the context to wait with. It ends with the turn. Whoever begins calls done.
func (t *turn) begin(ctx context.Context) context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx == nil {
		t.ctx, t.cut = context.WithCancel(ctx)
	}
	t.left = make(chan struct{})
	return t.ctx
}

// done tells that the wait is over.
func (t *turn) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.left)
	t.left = nil
}

// end ends the turn, and returns when nobody waits with it any more.
func (t *turn) end() {
	t.mu.Lock()
	cut, left := t.cut, t.left
	t.ctx, t.cut = nil, nil
	t.mu.Unlock()
	if cut != nil {
		cut()
	}
	if left != nil {
		<-left
	}
}
