package pubsub

import (
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// outbox lets several goroutines send on one stream. Nobody but the one who is sending waits for a client that does not
// read.
type outbox struct {
	sending sync.Mutex // held while something is being sent
	mu      sync.Mutex
	waiting []any
}

// maxWaiting is how many responses may wait for a client to read them.
const maxWaiting = 1000

// errNotReading ends the stream of a client that wants answers and reads none.
var errNotReading = status.Error(codes.ResourceExhausted, "the client does not read the answers to its requests")

// full tells whether too much waits.
func (o *outbox) full() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting) >= maxWaiting
}

// send sends a response, and what was left meanwhile.
func (o *outbox) send(wire grpc.ServerStream, m any) error {
	o.sending.Lock()
	err := wire.SendMsg(m)
	o.sending.Unlock()
	if err != nil {
		return err
	}
	return o.flush(wire)
}

// leave gives a response to the next one who sends or flushes.
func (o *outbox) leave(m any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = append(o.waiting, m)
}

// flush sends what was left, unless somebody is sending: that one flushes afterwards.
func (o *outbox) flush(wire grpc.ServerStream) error {
	for o.any() && o.sending.TryLock() {
		err := o.empty(wire)
		o.sending.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// empty sends all that was left. sending is held.
func (o *outbox) empty(wire grpc.ServerStream) error {
	for {
		o.mu.Lock()
		waiting := o.waiting
		o.waiting = nil
		o.mu.Unlock()
		if len(waiting) == 0 {
			return nil
		}
		for _, m := range waiting {
			if err := wire.SendMsg(m); err != nil {
				return err
			}
		}
	}
}

func (o *outbox) any() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting) > 0
}
