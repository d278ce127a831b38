package batch

import (
	"context"
	"sync"
	"time"
)

// Grouper takes items one at a time and gives them to its handlers in groups. Its methods may be called from any
// goroutine. Close it: its handlers are goroutines.
type Grouper[T any] struct {
	config Config[T]
	began  time.Time
	ctx    context.Context // the handlers'
	cancel context.CancelFunc
	ended  sync.WaitGroup // the handlers
	loans  sync.Pool      // of *Result, for Do
	turn   func()         // g.serveTurn, for PostTurn

	mu      sync.Mutex
	work    sync.Cond // handlers wait here; see wake
	idle    int       // handlers that wait and were not woken
	waking  bool      // one was woken and has not looked yet
	lent    int       // turns of handlers that wait, which callers of PostTurn have
	queue   ring[T]
	queued  int // bytes in queue
	blocked waiters[T]
	pressed bool // an item found no room since the last group left
	closed  bool
	timer   *time.Timer // only where there is a Delay
	armed   bool        // it will fire no later than the front's time is up

	taken   uint64   // items that left the queue: the number of the front
	busy    []uint64 // the number of the first item of every group being handled
	flushTo uint64   // items before this number leave without waiting for company
	flushes []*flushing
	spare   []*hand[T] // of turns that are over
	stats   Stats
}

// New starts a grouper.
func New[T any](c Config[T]) *Grouper[T] {
	g := &Grouper[T]{config: c.withDefaults(), began: time.Now()}
	g.work.L = &g.mu
	g.ctx, g.cancel = context.WithCancel(context.Background())
	g.loans.New = func() any { return &Result{lent: true, ch: make(chan struct{}, 1)} }
	g.turn = g.serveTurn
	g.busy = make([]uint64, 0, g.config.Handlers)
	g.ended.Add(g.config.Handlers)
	for range g.config.Handlers {
		go g.serve(new(hand[T]))
	}
	return g
}

// Add gives the grouper an item, waiting for room if need be, and returns the item's Result. The error is ctx.Err() or
// ErrClosed: then the item was not taken.
func (g *Grouper[T]) Add(ctx context.Context, item T) (*Result, error) {
	r := new(Result)
	if err := g.offerWait(ctx, item, r); err != nil {
		return nil, err
	}
	return r, nil
}

// TryAdd is Add that does not wait: it returns ErrFull where Add would.
func (g *Grouper[T]) TryAdd(item T) (*Result, error) {
	r := new(Result)
	if err := g.offer(item, r); err != nil {
		return nil, err
	}
	return r, nil
}

// Do adds an item, waits until its group was handled and returns the item's error. When ctx ends Do stops waiting and
// returns ctx.Err(); an item that was taken by then is handled all the same.
func (g *Grouper[T]) Do(ctx context.Context, item T) error {
	r := g.loans.Get().(*Result)
	if err := g.offerWait(ctx, item, r); err != nil {
		g.loans.Put(r)
		return err
	}
	select {
	case <-r.ch:
		err := r.err
		r.done, r.err = false, nil
		g.loans.Put(r)
		return err
	case <-ctx.Done():
		return ctx.Err() // the result is not lent again: the handler will still write to it
	}
}

// Post gives the grouper an item whose fate its owner learns in another way: there is no Result. It never waits, and
// returns ErrFull or ErrClosed when the item was not taken. The order of calls of Post is the order of the items.
func (g *Grouper[T]) Post(item T) error { return g.offer(item, nil) }

// PostWait is Post that waits for room. The error is ctx.Err() or ErrClosed: then the item was not taken.
func (g *Grouper[T]) PostWait(ctx context.Context, item T) error {
	return g.offerWait(ctx, item, nil)
}

func (g *Grouper[T]) entry(item T, r *Result) entry[T] {
	e := entry[T]{item: item, result: r}
	if g.config.Size != nil {
		e.size = max(0, g.config.Size(item))
	}
	if g.config.Delay > 0 {
		e.at = time.Since(g.began)
	}
	return e
}

func (g *Grouper[T]) offer(item T, r *Result) error {
	e := g.entry(item, r)
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.take(e); err != nil {
		return err
	}
	g.wake()
	return nil
}

// take puts an item into the queue if there is room for it. Somebody has to be woken for it.
func (g *Grouper[T]) take(e entry[T]) error {
	if g.closed {
		return ErrClosed
	}
	if g.blocked.n > 0 || !g.fits(e.size) {
		g.press()
		return ErrFull
	}
	g.enqueue(e)
	return nil
}

func (g *Grouper[T]) offerWait(ctx context.Context, item T, r *Result) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	e := g.entry(item, r)
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return ErrClosed
	}
	if g.blocked.n == 0 && g.fits(e.size) {
		g.admit(e)
		g.mu.Unlock()
		return nil
	}
	w := &waiter[T]{entry: e, admitted: make(chan error, 1)}
	g.blocked.push(w)
	g.press()
	g.mu.Unlock()

	select {
	case err := <-w.admitted:
		return err
	case <-ctx.Done():
	}
	g.mu.Lock()
	if !w.waiting { // admitted or refused meanwhile
		g.mu.Unlock()
		return <-w.admitted
	}
	g.blocked.remove(w)
	g.admitBlocked() // a smaller item behind this one may fit
	g.mu.Unlock()
	return ctx.Err()
}

// fits says whether an item of that size may wait now.
func (g *Grouper[T]) fits(size int) bool {
	if g.queue.n == 0 {
		return true
	}
	return g.queue.n < g.config.Pending && (g.config.PendingBytes == 0 || g.queued+size <= g.config.PendingBytes)
}

// admit puts an item into the queue and sees to it that somebody looks at it in time.
func (g *Grouper[T]) admit(e entry[T]) {
	g.enqueue(e)
	g.wake()
}

func (g *Grouper[T]) enqueue(e entry[T]) {
	g.queue.push(e)
	g.queued += e.size
	if g.config.Delay > 0 && !g.armed {
		g.arm()
	}
}

func (g *Grouper[T]) admitBlocked() {
	for w := g.blocked.first; w != nil && g.fits(w.entry.size); w = g.blocked.first {
		g.blocked.remove(w)
		g.admit(w.entry)
		w.admitted <- nil
	}
}

// press lets a group that is not full leave, because what follows has no room.
func (g *Grouper[T]) press() {
	g.pressed = true
	g.wake()
}
