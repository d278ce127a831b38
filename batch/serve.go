package batch

import (
	"runtime"
	"runtime/debug"
	"slices"
)

// hand is what one handler holds; it keeps its memory from group to group.
type hand[T any] struct {
	items   []T
	results []*Result // parallel to items
	first   uint64    // the number of the first item
	errs    []error   // what Handle returned, or one error for all
	err     error
	last    int // items of the group before
}

// serve is the life of a handler.
func (g *Grouper[T]) serve(h *hand[T]) {
	over := false
	defer g.leaveServe(&over)
	for g.next(h) {
		g.handle(h)
	}
	over = true
}

// leaveServe lets another goroutine go on if the handler's function ended this one. Its group has been answered by
// then.
func (g *Grouper[T]) leaveServe(over *bool) {
	if *over {
		g.ended.Done()
		return
	}
	go g.serve(new(hand[T]))
}

// next waits for a group to leave and puts it into h. false: the grouper is closed and empty.
func (g *Grouper[T]) next(h *hand[T]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	why := g.await()
	if g.config.Gather && why == ready {
		g.gather(h.last)
		why = g.await() // with several handlers another one may have been faster
	}
	if why == stays {
		return false
	}
	g.leave(h, why)
	return true
}

// leave lets the group at the front leave, into h. The lock is held.
func (g *Grouper[T]) leave(h *hand[T], why reason) {
	h.first = g.taken
	size := 0
	for g.queue.n > 0 && len(h.items) < g.config.MaxCount {
		e := g.queue.front()
		if g.config.MaxBytes > 0 && len(h.items) > 0 && size+e.size > g.config.MaxBytes {
			break
		}
		size += e.size
		h.items = append(h.items, e.item)
		h.results = append(h.results, e.result)
		g.queue.drop()
	}
	g.queued -= size
	g.taken += uint64(len(h.items))
	h.last = len(h.items)
	g.busy = append(g.busy, h.first)
	if why == count && len(h.items) < g.config.MaxCount && len(h.items) < g.config.Pending {
		why = bytes // enough items waited, but the bytes ended the group
	}
	g.stats.left(why, len(h.items))
	g.pressed = false
	g.admitBlocked()
	if g.blocked.n > 0 {
		g.pressed = true
	}
	if g.config.Delay > 0 && g.queue.n > 0 && !g.armed {
		g.arm()
	}
	g.wake()
}

// await waits until a group may leave and says why; stays: the grouper is closed and empty. The lock is held, but while
// it waits.
func (g *Grouper[T]) await() reason {
	for {
		why := g.due()
		switch {
		case g.closed && g.lent > 0: // closing woke also those whose turn somebody else has
		case g.closed || why != stays:
			return why
		default:
			g.idle++
		}
		g.work.Wait()
		g.waking = false
	}
}

// Yields cost nothing while there is nobody to yield to, and a turn of all others when the processors are busy.
const (
	gatherYields = 64
	gatherIdle   = 2 // in a row that bring nobody
)

// gather gives up the lock and the processor until as many items wait as were answered last, or until that brings none.
func (g *Grouper[T]) gather(answered int) {
	before, idle := g.queue.n, 0
	for range gatherYields {
		if before >= min(answered, g.config.MaxCount) || idle == gatherIdle {
			return
		}
		g.mu.Unlock()
		runtime.Gosched()
		g.mu.Lock()
		idle++
		if now := g.queue.n; now != before {
			before, idle = now, 0
		}
	}
}

// handle lets the group be handled and answers it, whatever the handler's function does.
func (g *Grouper[T]) handle(h *hand[T]) {
	h.err = ErrHandlerExit
	defer func() {
		if h.err == ErrHandlerExit {
			if v := recover(); v != nil {
				h.err = &PanicError{Value: v, Stack: debug.Stack()}
			}
		}
		g.answer(h)
	}()
	h.errs = g.config.Handle(g.ctx, h.items)
	h.err = nil
	if h.errs != nil && len(h.errs) != len(h.items) {
		h.err = &ResultsError{Items: len(h.items), Results: len(h.errs)}
	}
}

func (g *Grouper[T]) answer(h *hand[T]) {
	failed := 0
	for i, r := range h.results {
		err := h.err
		if err == nil && h.errs != nil {
			err = h.errs[i]
		}
		if err != nil {
			failed++
		}
		if r != nil {
			r.complete(err)
		}
	}
	clear(h.items) // what the items refer to is not ours to keep
	clear(h.results)
	h.items, h.results, h.errs, h.err = h.items[:0], h.results[:0], nil, nil

	g.mu.Lock()
	defer g.mu.Unlock()
	g.stats.Failed += uint64(failed)
	i := slices.Index(g.busy, h.first)
	g.busy = slices.Delete(g.busy, i, i+1)
	g.endFlushes()
}
