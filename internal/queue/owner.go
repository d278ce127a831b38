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

// owner is the Owner of a Store.
type owner struct {
	s        *Store
	name     string
	claimant uint64
	closed   bool
	queues   map[*queueState]*holding
	waiter   *waiter // its claim that waits, if one does
}

// holding is what an owner has of a queue.
type holding struct {
	keyed sequenceSet // messages that it holds, of those with a key,
	plain sequenceSet // and of the others
	next  sequenceSet // that it may take of keys that it holds
	asked []*askedNext
}

// NewOwner makes an owner. name is for people. Close it.
func (s *Store) NewOwner(name string) Owner {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claimant++
	return newOwner(s, name, s.claimant)
}

func newOwner(s *Store, name string, claimant uint64) *owner {
	return &owner{s: s, name: name, claimant: claimant, queues: map[*queueState]*holding{}}
}

// owner is the request's; nil: it has none, or one of somebody else's.
func (r *ClaimRequest) owner() *owner {
	o, _ := r.Owner.(*owner)
	return o
}

// closePiece is how many messages are put back under one hold of the lock when an owner is closed.
const closePiece = walkPiece

// Close implements Owner. Where much goes back it goes in pieces, with everybody else in between.
func (o *owner) Close() {
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

// heldMessage is a message that an owner holds.
type heldMessage struct {
	q *queueState
	e entry
}

// heldNext are the next messages that are to go back, at most so many. Of a key the last come first: each counts its
// own hand-out, and none goes back as one behind another. What is on its way to an end goes back if it does not get
// there (see unsettle). The lock is held.
func (o *owner) heldNext(most int) (es []heldMessage) {
	for q, h := range o.queues {
		if q.gone {
			continue
		}
		take := func(seq uint64) bool {
			if e, there := q.all.Get(seq); there && e.claim() != nil {
				es = append(es, heldMessage{q, e})
			}
			return len(es) < most
		}
		h.keyed.Descend(^uint64(0), take)
		if len(es) < most {
			h.plain.Ascend(take)
		}
		if len(es) >= most {
			break
		}
	}
	return es
}

// putBack puts messages back that the owner holds. The lock is held.
func (o *owner) putBack(es []heldMessage) {
	s := o.s
	events := make([]event, len(es))
	for i, x := range es {
		events[i] = &settled{queue: x.q.id, seq: x.e.seq(), end: endBack}
	}
	if !s.closed && s.write(events) == nil {
		return
	}
	// The journal takes nothing more: a restart puts back what owners held.
	for _, x := range es {
		if x.e.there() && x.e.claim() != nil { // else it was written that it goes back
			s.state.backAlone(x.q, x.e, 0, false)
		}
	}
	s.state.look(s.clock())
	s.state.serve()
	s.settleUp()
}

// in finds or makes what the owner has of a queue.
func (o *owner) in(q *queueState) *holding {
	h := o.queues[q]
	if h == nil {
		h = &holding{}
		o.queues[q] = h
	}
	return h
}

// tidy forgets a queue of which the owner has nothing.
func (o *owner) tidy(q *queueState) {
	if h := o.queues[q]; h != nil && h.keyed.Len()+h.plain.Len()+h.next.Len() == 0 {
		delete(o.queues, q)
	}
}

func (o *owner) hold(q *queueState, e entry) {
	if h := o.in(q); e.group() != nil {
		h.keyed.Add(e.seq())
	} else {
		h.plain.Add(e.seq())
	}
}

func (o *owner) drop(q *queueState, e entry) {
	if h := o.queues[q]; h != nil && (h.keyed.Delete(e.seq()) || h.plain.Delete(e.seq())) {
		o.tidy(q)
	}
}
