package flow

import (
	"context"
	"strconv"
	"sync"
	"time"
)

// place is where a goroutine stands: which workers it holds. The contexts of whatever it runs carry it, so that a stage
// that has to wait can give the worker back which some stage around it took.
type place struct {
	name   string  // where no worker is held
	of     *client // the stream that it works for
	demand int     // how many items the one who reads here takes in ahead; 0: all of them

	mu     sync.Mutex // users may hand a context to goroutines of their own
	top    *hold
	parked int // waits that are going on
}

// hold is one worker that a place has taken. Only the one at the top is held, and only while the place does not wait.
type hold struct {
	on     *Scheduler
	worker int // 0: none at the moment
	below  *hold
}

type placeKey struct{}

// standing returns a context with a place, which is a new one if there is none yet.
func standing(ctx context.Context) (context.Context, *place) {
	if p := placeOf(ctx); p != nil {
		return ctx, p
	}
	return newPlace(ctx, &place{name: "main", of: new(client)})
}

func newPlace(ctx context.Context, p *place) (context.Context, *place) {
	return context.WithValue(ctx, placeKey{}, p), p
}

func placeOf(ctx context.Context) *place {
	p, _ := ctx.Value(placeKey{}).(*place)
	return p
}

// enter takes a worker of s, and gives back the one that was held until now. nil without an error: the place is on s
// already.
func (p *place) enter(ctx context.Context, s *Scheduler) (*hold, error) {
	p.mu.Lock()
	if p.top != nil && p.top.on == s {
		p.mu.Unlock()
		return nil, nil
	}
	p.rest()
	h := &hold{on: s, below: p.top}
	p.top = h
	p.mu.Unlock()
	if err := p.resume(ctx); err != nil {
		p.leave(ctx, h)
		return nil, err
	}
	return h, nil
}

// leave ends what enter began.
func (p *place) leave(ctx context.Context, h *hold) {
	if h == nil {
		return
	}
	p.mu.Lock()
	link := &p.top
	for *link != h {
		link = &(*link).below
	}
	*link = h.below
	worker := h.worker
	h.worker = 0
	p.mu.Unlock()
	if worker != 0 {
		h.on.release(worker)
	}
	_ = p.resume(ctx) // whoever ends needs no worker for that
}

// park gives the worker back for as long as the goroutine waits.
func (p *place) park() {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.parked++
	p.rest()
	p.mu.Unlock()
}

// unpark ends the wait that park began. It returns the context's error if that ends before a worker is free.
func (p *place) unpark(ctx context.Context) error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	p.parked--
	p.mu.Unlock()
	return p.resume(ctx)
}

// rest gives back the worker at the top.
func (p *place) rest() {
	if p.top != nil && p.top.worker != 0 {
		p.top.on.release(p.top.worker)
		p.top.worker = 0
	}
}

// resume takes a worker for the top if it should have one.
func (p *place) resume(ctx context.Context) error {
	p.mu.Lock()
	h := p.top
	wants := h != nil && h.worker == 0 && p.parked == 0
	p.mu.Unlock()
	if !wants {
		return nil
	}
	worker, err := h.on.acquire(ctx, p.of)
	if err != nil {
		return err
	}
	p.mu.Lock()
	if p.top == h && h.worker == 0 && p.parked == 0 {
		h.worker, worker = worker, 0
	}
	p.mu.Unlock()
	if worker != 0 { // another goroutine with the same context was faster
		h.on.release(worker)
	}
	return nil
}

// busy says whether the place holds, or would like to hold, a worker.
func (p *place) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.top != nil
}

// where names the worker that is held.
func (p *place) where() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.top == nil || p.top.worker == 0 {
		return p.name
	}
	return p.top.on.name + "-" + strconv.Itoa(p.top.worker)
}

// On runs a stream on a worker of s: its source, the stages that start no goroutines, and what is done with the items
// up to the next stage that does. The worker is kept for as long as the stream runs, except while it waits for
// something of this package. Of several On around each other the innermost counts.
func On[T any](s *Scheduler, in Stream[T]) Stream[T] {
	return stream(func(ctx context.Context, yield func(T, error) bool) error {
		p := placeOf(ctx)
		h, err := p.enter(ctx, s)
		if err != nil {
			return err
		}
		defer p.leave(ctx, h)
		return each(ctx, in, yield)
	})
}

// Await calls wait, and gives the worker back meanwhile that this goroutine holds: it is for waiting that needs no
// worker, such as for an answer that somebody else will bring. The context is the one that a stage or source was given.
// It returns the context's error if that ends before a worker is free again.
func Await(ctx context.Context, wait func()) error {
	p := placeOf(ctx)
	p.park()
	func() {
		defer func() { // also if wait panics
			if p != nil {
				p.mu.Lock()
				p.parked--
				p.mu.Unlock()
			}
		}()
		wait()
	}()
	if p == nil {
		return nil
	}
	return p.resume(ctx)
}

// Sleep waits without a worker. It returns the context's error if that ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d <= 0 {
		return nil
	}
	p := placeOf(ctx)
	p.park()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	if err := p.unpark(ctx); err != nil {
		return err
	}
	return context.Cause(ctx)
}
