package publisher

import (
	"context"
	"sync"

	"cloud.google.com/go/pubsub/v2"
)

// A PublishResult is the fate of one published message. Its methods may be called from any goroutine, any number of
// times.
//
// It is also the message's place in its lane while it waits, so that publishing takes one allocation.
type PublishResult struct {
	next *PublishResult // in its lane or group
	msg  *pubsub.Message
	span *journey // nil: not traced

	mu    sync.Mutex
	done  bool
	size  int32         // of the encoded message
	epoch uint32        // see Flush
	ch    chan struct{} // made when somebody first asks for it
	id    string
	err   error
}

// Get waits until the message was published, or failed to be, and returns the id that the service gave it. If ctx ends
// first it returns ctx.Err(); the message stays where it is, and Get may be called again.
func (r *PublishResult) Get(ctx context.Context) (serverID string, err error) {
	r.mu.Lock()
	if r.done {
		r.mu.Unlock()
		return r.id, r.err
	}
	ch := r.channel()
	r.mu.Unlock()
	select {
	case <-ch:
		return r.id, r.err
	case <-ctx.Done():
	}
	select { // both may have come true
	case <-ch:
		return r.id, r.err
	default:
		return "", ctx.Err()
	}
}

// Ready returns a channel that is closed when Get will not block.
func (r *PublishResult) Ready() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.channel()
}

// channel makes the channel if need be. The lock is held.
func (r *PublishResult) channel() chan struct{} {
	if r.ch == nil {
		r.ch = make(chan struct{})
		if r.done {
			close(r.ch)
		}
	}
	return r.ch
}

// complete ends the waiting, and lets go of the message and of the results that followed.
func (r *PublishResult) complete(id string, err error) {
	r.next, r.msg = nil, nil
	if r.span != nil {
		r.span.end(id, err)
		r.span = nil
	}
	r.mu.Lock()
	r.id, r.err, r.done = id, err, true
	if r.ch != nil {
		close(r.ch)
	}
	r.mu.Unlock()
}
