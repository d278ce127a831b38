package remote

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// owner is a queue.Owner of a Store. Its counterpart at the other node is made by its first claim there, and ends with
// it or with the connection.
type owner struct {
	store *Store
	id    uint64
	name  string
	ctx   context.Context // ends when it is closed
	end   context.CancelCauseFunc

	mu      sync.Mutex
	claims  sync.WaitGroup // under way
	claimed bool           // there may be a counterpart
}

// closeTime is how long the other node may take to end an owner. Then the connection's end does it.
const closeTime = 10 * time.Second

// NewOwner implements queue.Taking.
func (s *Store) NewOwner(name string) queue.Owner {
	o := &owner{store: s, id: s.node.owners.Add(1), name: name}
	o.ctx, o.end = context.WithCancelCause(context.Background())
	return o
}

// use begins a claim of the owner, whose context ends with it. over ends it.
func (o *owner) use(ctx context.Context) (claims context.Context, over func(), err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ctx.Err() != nil {
		return nil, nil, errOwner
	}
	o.claims.Add(1)
	o.claimed = true
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(o.ctx, func() { cancel(errOwner) })
	return ctx, func() {
		stop()
		cancel(nil)
		o.claims.Done()
	}, nil
}

var errOwner = fmt.Errorf("%w: the owner was closed", queue.ErrStale)

// Close implements queue.Owner.
func (o *owner) Close() {
	o.mu.Lock()
	if o.ctx.Err() != nil {
		o.mu.Unlock()
		return
	}
	o.end(errOwner)
	claimed := o.claimed
	o.mu.Unlock()
	o.claims.Wait()
	if !claimed {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_, _ = closeOwner.of(ctx, o.store, o.id) // the connection has ended, and with it the counterpart
}

// session is what the node that is asked knows of a connection: the owners of who is at its other end.
type session struct {
	mu     sync.Mutex
	ended  bool
	owners map[ownerKey]queue.Owner
}

// ownerKey tells owners apart: a store that is opened anew knows none of the former.
type ownerKey struct {
	store queue.Shard
	id    uint64
}

// owner finds or makes one.
func (s *session) owner(at queue.Shard, a ownerArgs) (queue.Owner, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, errOwner
	}
	k := ownerKey{at, a.ID}
	if s.owners[k] == nil {
		s.owners[k] = at.NewOwner(a.Name)
	}
	return s.owners[k], nil
}

// closeOwner ends one, if it is there.
func (s *session) closeOwner(at queue.Shard, id uint64) {
	s.mu.Lock()
	k := ownerKey{at, id}
	o := s.owners[k]
	delete(s.owners, k)
	s.mu.Unlock()
	if o != nil {
		o.Close()
	}
}

// end ends all.
func (s *session) end() {
	s.mu.Lock()
	owners := s.owners
	s.owners, s.ended = nil, true
	s.mu.Unlock()
	for _, o := range owners {
		o.Close()
	}
}
