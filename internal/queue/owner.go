package queue

// owner is who holds claims that end when it does, as the state knows it.
type owner struct {
	claimant uint64
	closed   bool
	queues   map[*queueState]*holding
}

// holding is what an owner has of a queue.
type holding struct {
	keyed sequenceSet // messages that it holds, of those with a key,
	plain sequenceSet // and of the others
	next  sequenceSet // that it may take of keys that it holds
	asked []*askedNext
}

func newOwner(claimant uint64) *owner {
	return &owner{claimant: claimant, queues: map[*queueState]*holding{}}
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
