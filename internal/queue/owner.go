package queue

import (
	"cmp"
	"iter"
	"slices"
)

// Owner holds claims that end when it does: a connection's, a pipeline's. Claims of one Owner may hold several messages
// of one key. It claims for one reader: while one of its claims waits, another that would have to wait is refused,
// because a message that one takes opens the next of its key to the owner, and nobody could say which of two that wait
// gets it.
type Owner struct {
	s        *Store
	name     string
	claimant uint64
	closed   bool
	held     map[entry]*queueState
	keys     map[*queueState]map[*keyGroup]int
	waiter   *waiter // its claim that waits, if one does
}

// NewOwner makes an owner. name is for people. Close it.
func (s *Store) NewOwner(name string) *Owner {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claimant++
	return newOwner(s, name, s.claimant)
}

func newOwner(s *Store, name string, claimant uint64) *Owner {
	return &Owner{
		s: s, name: name, claimant: claimant, held: map[entry]*queueState{}, keys: map[*queueState]map[*keyGroup]int{},
	}
}

// Close puts back at once, in its old place, everything the owner still holds, and ends its claims that wait with
// ErrStale. A second Close does nothing.
func (o *Owner) Close() {
	s := o.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.closed {
		return
	}
	o.closed = true
	if w := o.waiter; w != nil && !w.gone {
		s.state.unwait(w)
		w.served(w)
	}
	for s.paused > 0 && !s.closed { // before looking: what is held may change meanwhile
		s.landing.Wait()
	}
	var events []event
	for e, q := range o.held {
		if c := e.claim(); c != nil && !c.settling {
			events = append(events, &settled{queue: q.id, seq: e.seq(), end: endBack})
		}
	}
	// Later ones first: each counts its own hand-out, none goes back as one behind another.
	slices.SortFunc(events, func(a, b event) int { return cmp.Compare(b.(*settled).seq, a.(*settled).seq) })
	if s.closed || s.write(events) != nil {
		// The journal takes nothing more: a restart puts back what owners held.
		for e, q := range o.held {
			if c := e.claim(); c != nil && !c.settling {
				s.state.back(q, e, 0, false)
			}
		}
		s.state.serve()
	}
}

func (o *Owner) hold(q *queueState, e entry) {
	o.held[e] = q
	if g := e.group(); g != nil {
		if o.keys[q] == nil {
			o.keys[q] = map[*keyGroup]int{}
		}
		o.keys[q][g]++
	}
}

func (o *Owner) drop(q *queueState, e entry) {
	if _, ok := o.held[e]; !ok {
		return
	}
	delete(o.held, e)
	g := e.group()
	if g == nil {
		return
	}
	if o.keys[q][g]--; o.keys[q][g] == 0 {
		delete(o.keys[q], g)
	}
	if len(o.keys[q]) == 0 {
		delete(o.keys, q)
	}
}

// keysIn are the keys of q of which the owner holds messages.
func (o *Owner) keysIn(q *queueState) iter.Seq[*keyGroup] {
	return func(yield func(*keyGroup) bool) {
		for g := range o.keys[q] {
			if !yield(g) {
				return
			}
		}
	}
}
