package batch

import (
	"context"
	"sync"
)

// Result is the fate of one item. Its methods may be called from any goroutine, any number of times.
type Result struct {
	mu   sync.Mutex
	done bool
	// lent: the result belongs to a call of Do and is used again: ch has room for one value and is never closed.
	lent bool
	ch   chan struct{} // made when somebody first asks for it
	err  error
}

// Wait returns the item's error once its group was handled. If ctx ends first it returns ctx.Err() and the item stays
// where it is: Wait may be called again.
func (r *Result) Wait(ctx context.Context) error {
	if done, err := r.look(); done {
		return err
	}
	select {
	case <-r.Done():
		return r.Err()
	case <-ctx.Done():
		if done, err := r.look(); done {
			return err
		}
		return ctx.Err()
	}
}

// Done returns a channel that is closed when the item's group was handled.
func (r *Result) Done() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ch == nil {
		r.ch = make(chan struct{})
		if r.done {
			close(r.ch)
		}
	}
	return r.ch
}

// Err returns the item's error, and nil if it succeeded or was not handled yet.
func (r *Result) Err() error {
	_, err := r.look()
	return err
}

func (r *Result) look() (done bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done, r.err
}

// complete ends the waiting. A lent result may belong to another call as soon as its channel was fed: nothing may touch
// it after that.
func (r *Result) complete(err error) {
	r.mu.Lock()
	r.done, r.err = true, err
	ch, lent := r.ch, r.lent
	r.mu.Unlock()
	switch {
	case ch == nil:
	case lent:
		ch <- struct{}{}
	default:
		close(ch)
	}
}
