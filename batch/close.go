package batch

import (
	"context"
	"slices"
)

// flushing is a call of Flush that waits until every item before number to was handled.
type flushing struct {
	to   uint64
	done chan struct{}
}

// Flush lets everything that was added before the call leave, and returns when it was handled. When ctx ends it stops
// waiting and returns ctx.Err(). Items' errors are in their results, not here.
func (g *Grouper[T]) Flush(ctx context.Context) error {
	g.mu.Lock()
	f := &flushing{to: g.taken + uint64(g.queue.n), done: make(chan struct{})}
	if g.handled() >= f.to {
		g.mu.Unlock()
		return nil
	}
	g.flushTo = f.to // numbers only grow
	g.flushes = append(g.flushes, f)
	g.wake()
	g.mu.Unlock()

	select {
	case <-f.done:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.flushes, f)
	if i < 0 { // it was done meanwhile
		return nil
	}
	g.flushes = slices.Delete(g.flushes, i, i+1)
	return ctx.Err()
}

// handled returns the number before which every item was handled.
func (g *Grouper[T]) handled() uint64 {
	n := g.taken
	for _, first := range g.busy {
		n = min(n, first)
	}
	return n
}

func (g *Grouper[T]) endFlushes() {
	if len(g.flushes) == 0 {
		return
	}
	n := g.handled()
	g.flushes = slices.DeleteFunc(g.flushes, func(f *flushing) bool {
		if f.to > n {
			return false
		}
		close(f.done)
		return true
	})
}

// Close takes no more items, handles what waits, and returns when the last group was handled and no goroutine is left.
// Calls that wait for room get ErrClosed. A second Close waits for the same end. It returns nil.
func (g *Grouper[T]) Close() error { return g.Shutdown(context.Background()) }

// Shutdown is Close with limited patience: when ctx ends, so does the context of the handlers. What still waits is
// given to them with that ended context, so that every item gets an answer. Shutdown returns when no goroutine is left:
// nil, or ctx.Err() if patience ran out.
func (g *Grouper[T]) Shutdown(ctx context.Context) error {
	g.mu.Lock()
	if !g.closed {
		g.closed = true
		for w := g.blocked.first; w != nil; w = g.blocked.first {
			g.blocked.remove(w)
			w.admitted <- ErrClosed
		}
		if g.timer != nil {
			g.timer.Stop()
		}
		g.idle = 0
		g.work.Broadcast()
	}
	g.mu.Unlock()

	over := context.AfterFunc(ctx, g.cancel)
	g.ended.Wait()
	inTime := over()
	g.cancel()
	if !inTime {
		return ctx.Err()
	}
	return nil
}
