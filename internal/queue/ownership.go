package queue

import "runtime"

// Owner holds claims that end when it does: a connection's, a pipeline's. Claims of one Owner may hold several messages
// of one key. It claims for one reader: while one of its claims waits, another that would have to wait is refused,
// because a message that one takes opens the next of its key to the owner, and nobody could say which of two that wait
// gets it.
type Owner interface {
	// Close puts back at once, in its old place, everything the owner still holds, and ends its claims that wait with
	// ErrStale. A second Close does nothing.
	Close()
}

// ownership is the Owner of a Store.
type ownership struct {
	*owner

	s      *Store
	name   string
	waiter *waiter // its claim that waits, if one does
}

// NewOwner makes an owner. name is for people. Close it.
func (s *Store) NewOwner(name string) Owner {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claimant++
	return &ownership{owner: newOwner(s.claimant), s: s, name: name}
}

// owner is the request's; nil: it has none, or one of somebody else's.
func (r *ClaimRequest) owner() *ownership {
	o, _ := r.Owner.(*ownership)
	return o
}

// closePiece is how many messages are put back under one hold of the lock when an owner is closed.
const closePiece = walkPiece

// Close implements Owner. Where much goes back it goes in pieces, with everybody else in between.
func (o *ownership) Close() {
	s := o.s
	s.mu.Lock()
	if o.closed {
		s.mu.Unlock()
		return
	}
	o.closed = true
	if w := o.waiter; w != nil && !w.gone {
		s.state.unwait(w)
		s.state.tell(w)
		s.handOver()
	}
	for {
		for s.paused > 0 && !s.closed { // before looking: what is held may change meanwhile
			s.landing.Wait()
		}
		es := o.heldNext(closePiece)
		o.putBack(es)
		s.mu.Unlock()
		if len(es) == 0 {
			s.keepShown()
			return
		}
		runtime.Gosched()
		s.mu.Lock()
	}
}

// putBack puts messages back that the owner holds. The lock is held.
func (o *ownership) putBack(es []heldMessage) {
	s := o.s
	if !s.closed && s.write(toPutBack(es)) == nil {
		return
	}
	// The journal takes nothing more: a restart puts back what owners held.
	s.state.putBack(es)
	s.state.look(s.clock())
	s.state.serve()
	s.settleUp()
}
