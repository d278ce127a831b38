package function

import (
	"fmt"
	"sync/atomic"
)

// reservation is the concurrency that a function has to itself: all of its versions share it, as the provider has it.
type reservation struct {
	limit   int          // the pool's mu guards it
	running atomic.Int64 // invocations that run or wait
}

// reserve makes the reservation of a definition the function's: what the version that was deployed last says counts.
// p.mu is held.
func (p *Pool) reserve(d *Definition) error {
	if d.Reserved == nil {
		p.cancel(d.Name)
		return nil
	}
	left := p.shared
	r := p.reserved[d.Name]
	if r != nil {
		left += r.limit
	}
	if *d.Reserved > left {
		return &DefinitionError{d.Name, "reserved concurrency",
			fmt.Sprintf("%d is more than the %d that are left of the pool's %d", *d.Reserved, left,
				p.config.Concurrency)}
	}
	if r == nil {
		r = &reservation{}
		p.reserved[d.Name] = r
	}
	r.limit, p.shared = *d.Reserved, left-*d.Reserved
	p.vacancy.wake()
	return nil
}

// unreserve gives the reservation of a function back whose last version was removed. p.mu is held.
func (p *Pool) unreserve(name string) {
	for k := range p.functions {
		if k.name == name {
			return
		}
	}
	p.cancel(name)
}

// cancel gives a reservation back, if there is one. p.mu is held.
func (p *Pool) cancel(name string) {
	if r := p.reserved[name]; r != nil {
		p.shared += r.limit
		delete(p.reserved, name)
		p.vacancy.wake()
	}
}

// admit counts an invocation in, if there is room for it, or a pass says that it was counted before.
func (p *Pool) admit(c *call, pass *Pass) error {
	p.mu.Lock()
	counter, limit, reason := p.account(c.fn.d.Name)
	p.mu.Unlock()
	if pass != nil {
		switch had := pass.counter.Swap(nil); had {
		case counter:
			c.counted.Store(counter)
			return nil
		case nil:
		default: // what is reserved has changed meanwhile
			p.leave(had)
		}
	}
	if !enter(counter, limit) {
		c.fn.totals.throttled.Add(1)
		return &ThrottledError{c.fn.d.Name, reason, limit}
	}
	c.counted.Store(counter)
	return nil
}

// release counts the invocation out. It may be called more than once.
func (c *call) release() {
	if counter := c.counted.Swap(nil); counter != nil {
		c.fn.pool.leave(counter)
	}
}
