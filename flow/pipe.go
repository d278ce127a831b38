package flow

import (
	"context"
	"sync"
)

// pipe runs a stream in a goroutine of its own, so many items ahead of the one who takes them.
type pipe[T any] struct {
	most   int
	cancel context.CancelCauseFunc
	ended  chan struct{}
	empty  func() // called, if set, when the stream has ended and everything was taken by then

	mu      sync.Mutex
	room    sync.Cond // the stream waits
	filled  sync.Cond // the taker waits
	items   ring[piece[T]]
	over    bool // the stream has ended
	stopped bool // the taker wants no more
}

// ahead starts a pipe. Stop it.
func ahead[T any](ctx context.Context, in Stream[T], most int, empty func()) *pipe[T] {
	p := &pipe[T]{most: max(1, most), ended: make(chan struct{}), empty: empty}
	p.room.L, p.filled.L = &p.mu, &p.mu
	ctx, p.cancel = context.WithCancelCause(ctx)
	ctx, at := newPlace(ctx, &place{name: "goroutine", of: new(client), demand: p.most})
	go p.run(ctx, at, in)
	return p
}

func (p *pipe[T]) run(ctx context.Context, at *place, in Stream[T]) {
	defer close(p.ended)
	err := ErrExited
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if err != nil {
			p.items.push(piece[T]{err: err})
		}
		p.over = true
		p.filled.Signal()
		if p.items.n == 0 && p.empty != nil {
			p.empty()
		}
	}()
	err = each(ctx, in, func(item T, err error) bool { return p.put(ctx, at, piece[T]{value: item, err: err}) })
}

// put waits for room; false: nobody wants more.
func (p *pipe[T]) put(ctx context.Context, at *place, r piece[T]) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.await(ctx, at, &p.room, func() bool { return p.items.n < p.most || p.stopped })
	if p.stopped {
		return false
	}
	p.items.push(r)
	p.filled.Signal()
	return true
}

// take waits for an item; false: there is none any more, or the context has ended. last says that no more follows, as
// far as is known.
func (p *pipe[T]) take(ctx context.Context, at *place) (r piece[T], last, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.await(ctx, at, &p.filled, func() bool { return p.items.n > 0 || p.over || p.stopped })
	if p.items.n == 0 || p.stopped {
		return r, true, false
	}
	r = p.items.pop()
	p.room.Signal()
	return r, p.over && p.items.n == 0, true
}

// takeMore adds what is there to some, up to so many, and does not wait. An item with an error stays.
func (p *pipe[T]) takeMore(some []T, most int) []T {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(some) < most && p.items.n > 0 && p.items.at(0).err == nil {
		some = append(some, p.items.pop().value)
	}
	p.room.Signal()
	return some
}

func (p *pipe[T]) await(ctx context.Context, at *place, cond *sync.Cond, so func() bool) {
	if so() {
		return
	}
	busy := at.busy()
	if busy {
		p.mu.Unlock()
		at.park()
		p.mu.Lock()
	}
	for !so() {
		cond.Wait()
	}
	if busy {
		p.mu.Unlock()
		_ = at.unpark(ctx) // without a worker if ctx has ended: then the work is over
		p.mu.Lock()
	}
}

// halt lets whoever waits go on: the context has ended.
func (p *pipe[T]) halt() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	p.room.Signal()
	p.filled.Signal()
}

// stop ends the stream and waits for it.
func (p *pipe[T]) stop(ctx context.Context, at *place) {
	p.cancel(errEnough)
	p.halt()
	at.park()
	<-p.ended
	_ = at.unpark(ctx) // there is little left to do
}

// whenOver calls halt when ctx ends. What it returns undoes that, and waits for it if it is too late.
func whenOver(ctx context.Context, halt func()) (undo func()) {
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		halt()
	})
	return func() {
		if !stop() {
			<-told
		}
	}
}
