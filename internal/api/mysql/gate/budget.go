package gate

import (
	"context"
	"sync"
)

// Budget is how many bytes of commands may be in memory at once, over all connections. Its methods may be called from any goroutine.
type Budget struct {
	mu      sync.Mutex
	left    int64
	waiting []*waiter // the first is served first, so that large commands get their turn
}

type waiter struct {
	bytes int64
	ready chan struct{}
}

// NewBudget makes a budget of so many bytes.
func NewBudget(bytes int64) *Budget { return &Budget{left: bytes} }

// Take waits until so many bytes are free, and takes them. The error is that of ctx; then nothing was taken. What is taken is given back with Give.
func (b *Budget) Take(ctx context.Context, bytes int64) error {
	b.mu.Lock()
	if len(b.waiting) == 0 && b.left >= bytes {
		b.left -= bytes
		b.mu.Unlock()
		return nil
	}
	w := &waiter{bytes, make(chan struct{})}
	b.waiting = append(b.waiting, w)
	b.mu.Unlock()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, other := range b.waiting {
		if other == w {
			b.waiting = append(b.waiting[:i], b.waiting[i+1:]...)
			b.serve()
			return context.Cause(ctx)
		}
	}
	return nil // served meanwhile
}

// TryTake takes bytes if they are free and nobody waits.
func (b *Budget) TryTake(bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) > 0 || b.left < bytes {
		return false
	}
	b.left -= bytes
	return true
}

// Give gives bytes back.
func (b *Budget) Give(bytes int64) {
	if bytes == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += bytes
	b.serve()
}

// Left is how many bytes are free.
func (b *Budget) Left() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left
}

func (b *Budget) serve() {
	for len(b.waiting) > 0 && b.left >= b.waiting[0].bytes {
		w := b.waiting[0]
		b.waiting = b.waiting[1:]
		b.left -= w.bytes
		close(w.ready)
	}
}
