package line

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
)

// Watch returns a context that ends when the client goes away, for what waits. stop has to be called before the answer
// is sent.
func (x *Exchange) Watch() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch{c: x.c, cancel: cancel}
	w.begin()
	return ctx, w.stop
}

// WatchLong is Watch for what is done in no time as a rule, and costs next to nothing then: the client is looked for
// only after a second or two.
func (x *Exchange) WatchLong() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch{c: x.c, cancel: cancel}
	x.c.late.Store(w)
	if x.c.s.ctx.Err() != nil { // nobody else begins it any more
		w.begin()
	}
	return ctx, w.stop
}

// watch looks whether the client of a request goes away.
type watch struct {
	c      *conn
	cancel context.CancelFunc

	mu   sync.Mutex
	over bool          // nothing is begun any more
	done chan struct{} // closed when the look has ended; nil: it was not begun
}

// begin begins the look, once.
func (w *watch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	// the next request has come: there is nothing to wait for
	if w.over || w.done != nil || len(w.c.data) > w.c.head.end {
		return
	}
	w.done = make(chan struct{})
	go w.look()
}

func (w *watch) look() {
	defer close(w.done)
	var one [1]byte
	n, err := w.c.net.Read(one[:])
	w.c.pending = append(w.c.pending[:0], one[:n]...)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		w.c.broken = true
		w.cancel()
	}
}

// stop ends the look and waits for it.
func (w *watch) stop() {
	w.c.late.CompareAndSwap(w, nil)
	w.mu.Lock()
	w.over = true
	done := w.done
	w.mu.Unlock()
	if done != nil {
		_ = w.c.net.SetReadDeadline(time.Unix(1, 0)) // a connection that is closed ends the read by itself
		<-done
		_ = w.c.net.SetReadDeadline(time.Time{})
	}
	w.cancel()
}
