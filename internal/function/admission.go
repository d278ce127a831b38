package function

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// Pass is room for one invocation of a function, taken before there is an invocation. It belongs to who was given it
// until it is put into a Request, which uses it up, or released.
type Pass struct {
	pool    *Pool
	counter atomic.Pointer[atomic.Int64] // nil: it was used or released
}

// Release gives the room back. It may be called more than once, and after the Pass was used.
func (s *Pass) Release() {
	if counter := s.counter.Swap(nil); counter != nil {
		s.pool.leave(counter)
	}
}

// Admit waits until an invocation of a function would not be throttled, and keeps the room for one. Errors: the
// context's together with the *ThrottledError that there would have been, ErrClosed, and a *ThrottledError alone where
// there will be no room however long one waits, because none is reserved.
func (p *Pool) Admit(ctx context.Context, name string) (*Pass, error) {
	for {
		p.vacancy.waiting.Add(1)
		changed := p.vacancy.next()
		pass, err := p.tryAdmit(name)
		if pass != nil || err != nil {
			p.vacancy.waiting.Add(-1)
			return pass, err
		}
		select {
		case <-changed:
			p.vacancy.waiting.Add(-1)
		case <-ctx.Done():
			p.vacancy.waiting.Add(-1)
			p.mu.Lock()
			_, limit, reason := p.account(name)
			p.mu.Unlock()
			return nil, fmt.Errorf("%w: %w", &ThrottledError{name, reason, limit}, ctx.Err())
		}
	}
}

// TryAdmit is Admit that does not wait; nil: there is no room now.
func (p *Pool) TryAdmit(name string) *Pass {
	pass, err := p.tryAdmit(name)
	if err != nil {
		return nil
	}
	return pass
}

// tryAdmit keeps room for an invocation; nil, nil: there is none now.
func (p *Pool) tryAdmit(name string) (*Pass, error) {
	p.mu.Lock()
	closed := p.closed
	counter, limit, reason := p.account(name)
	p.mu.Unlock()
	switch {
	case closed:
		return nil, fmt.Errorf("function %s: %w", name, ErrClosed)
	case limit <= 0 && reason == reasonReserved:
		return nil, &ThrottledError{name, reason, limit}
	case !enter(counter, limit):
		return nil, nil
	}
	s := &Pass{pool: p}
	s.counter.Store(counter)
	return s, nil
}

// account is where invocations of a function count, and how many there may be. p.mu is held.
func (p *Pool) account(name string) (counter *atomic.Int64, limit int, reason string) {
	if r := p.reserved[name]; r != nil {
		return &r.running, r.limit, reasonReserved
	}
	return &p.unreserved, p.shared, reasonPool
}

// enter counts an invocation in, if there is room. It never counts one in for a moment only: who waits might look just
// then, and nobody would wake them again.
func enter(counter *atomic.Int64, limit int) bool {
	for {
		n := counter.Load()
		if n >= int64(limit) {
			return false
		}
		if counter.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// leave counts an invocation out.
func (p *Pool) leave(counter *atomic.Int64) {
	counter.Add(-1)
	p.vacancy.wake()
}

// vacancy wakes those who wait for room.
type vacancy struct {
	waiting atomic.Int64 // so that an invocation that ends takes no lock while nobody waits
	mu      sync.Mutex
	changed chan struct{}
}

// next is closed by the next wake.
func (v *vacancy) next() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.changed == nil {
		v.changed = make(chan struct{})
	}
	return v.changed
}

// wake wakes everybody who waits.
func (v *vacancy) wake() {
	if v.waiting.Load() == 0 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.changed != nil {
		close(v.changed)
		v.changed = nil
	}
}
