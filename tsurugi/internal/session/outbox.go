package session

import (
	"context"
	"sync"
)

const (
	maxPending = 4 << 20 // bytes that wait for the writer; one request may go beyond
	maxKept    = 1 << 20 // bytes of a buffer that is worth keeping
)

// An outbox gathers requests while the writer is busy. Two buffers change places: one is filled while the other is
// written.
type outbox struct {
	mu    sync.Mutex
	buf   []byte
	spare []byte
	ready chan struct{} // has an entry when buf is not empty
	room  chan struct{} // closed and made anew when buf is taken
}

func (o *outbox) init() {
	o.ready, o.room = make(chan struct{}, 1), make(chan struct{})
}

// put appends a request. It waits while too much waits already, and fails if the session ends, or the context does;
// then nothing was appended.
func (o *outbox) put(ctx context.Context, gone <-chan struct{}, fill func([]byte) []byte) error {
	o.mu.Lock()
	for len(o.buf) > maxPending {
		room := o.room
		o.mu.Unlock()
		select {
		case <-room:
		case <-gone:
			return ErrClosed
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		o.mu.Lock()
	}
	o.buf = fill(o.buf)
	o.mu.Unlock()
	select {
	case o.ready <- struct{}{}:
	default:
	}
	return nil
}

// take waits for requests and returns them. They are the caller's until the next take.
func (o *outbox) take(gone <-chan struct{}) ([]byte, bool) {
	select {
	case <-o.ready:
	case <-gone:
		return nil, false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.buf
	if cap(o.spare) > maxKept {
		o.spare = nil
	}
	o.buf, o.spare = o.spare[:0], b
	close(o.room)
	o.room = make(chan struct{})
	return b, true
}
