package queue

import (
	"container/heap"

	"github.com/hikyaku/hikyaku/internal/condition"
)

// offering is messages of one moment on their way to waiters some of whom have several wishes: who waits longest for
// any of them is offered all of them, takes the best, and so on until nothing is left that anybody wants. That is done
// in steps, and may go on under another hold of the lock: what was found out is kept.
type offering struct {
	fresh map[*queueState][]entry // in their order; none in the place of one that is gone
	heap  offered
	asked map[wish]int      // up to which place no message of a queue meets a condition
	known map[entry]*looked // those whose bodies were read; nil: nobody's
	lined bool              // it is in a lane
	after *offering         // the one behind it in its lane
	now   offeredNow
}

// offeredNow is the waiter who is being offered messages, and what it wants of them.
type offeredNow struct {
	w        *waiter
	from, at int // the wish and the place where that goes on
	places   []offeredPlace
	// of places: those that it gets if nobody is faster, how many these are, and their bytes
	sure         map[entry]bool // nil: no later wish can find them again
	count, bytes int
}

// offeredPlace is a message of an offering that meets a wish.
type offeredPlace struct{ from, at int }

// wish is a condition on the messages of a queue; "" is met by all.
type wish struct {
	q     *queueState
	where string
}

func wishOf(q *queueState, where *condition.Expr) wish {
	if where == nil {
		return wish{q, ""}
	}
	return wish{q, where.String()}
}

// offer is the message at a place of a queue's, with the number of who waits longest for it, or a lesser one.
type offer struct {
	number uint64
	q      *queueState
	at     int
}

// offered is a heap: the one with the least number is on top.
type offered []offer

func (h offered) Len() int { return len(h) }
func (h offered) Less(i, j int) bool {
	a, b := &h[i], &h[j]
	if a.number != b.number {
		return a.number < b.number
	}
	if a.q != b.q {
		return a.q.id < b.q.id
	}
	return a.at < b.at
}
func (h offered) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *offered) Push(x any)   { *h = append(*h, x.(offer)) }
func (h *offered) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// newOffering begins an offering of messages in the order of their sequences.
func newOffering(fresh map[*queueState][]entry, known map[entry]*looked) *offering {
	o := &offering{fresh: fresh, asked: map[wish]int{}, known: known}
	for q, es := range fresh {
		for i := range es {
			o.heap = append(o.heap, offer{q: q, at: i})
		}
	}
	heap.Init(&o.heap)
	return o
}

// servePiece is how many steps serving waiters may take under one hold of the lock, beside those for the messages that
// the hold itself brings: questions of conditions, mostly.
const (
	servePiece   = 1000
	stepsForEach = 4 // for each of these
)

// serveChoosy serves waiters with several wishes: who matches anything is offered all of it. What takes long goes on
// under other holds of the lock, and what comes to the same queues meanwhile waits for its end.
func (s *state) serveChoosy(fresh map[*queueState][]entry) {
	o := newOffering(fresh, s.known)
	if o.inLane() || s.offerOn(o) {
		s.lineUp(o)
	}
}

// offerOn makes steps of an offering while some are left, and tells whether it has to go on.
func (s *state) offerOn(o *offering) (more bool) {
	for q, es := range o.fresh {
		if q.gone || q.waiting.recalled {
			o.leave(s, q, es)
		}
	}
	for len(o.heap) > 0 {
		if s.steps--; s.steps < 0 {
			return true
		}
		w, verdict := o.next(s)
		if verdict != told {
			return verdict == tooMany
		}
		if w == nil {
			continue
		}
		switch taken, verdict := s.offer(o, w); {
		case taken > 0:
			s.unwait(w)
			s.tell(w)
		case verdict == bodyUnread:
			o.aside(s)
			return false
		case verdict == tooMany:
			return true
		case verdict == tooHeavy:
			s.lookItself(w)
		default:
			o.drop(s)
		}
	}
	return false
}

// next is the waiter who is to be offered what is left: who waits longest for any of it, as far as that is known with
// one step; nil: it is not, or somebody had to be asked who is not there any more.
func (o *offering) next(s *state) (*waiter, verdict) {
	if w := o.now.w; w != nil && !w.gone {
		return w, told
	}
	top := &o.heap[0]
	q, e := top.q, o.at(top)
	if e == none || !e.there() || e.claim() != nil {
		heap.Pop(&o.heap)
		return nil, told
	}
	w, verdict := s.longestWaiting(q, e)
	switch {
	case verdict == bodyUnread:
		o.aside(s)
	case verdict == tooMany:
	case w == nil:
		heap.Pop(&o.heap)
	case w.number > top.number && !o.first(w):
		top.number = w.number
		if heap.Fix(&o.heap, 0); o.heap[0].number < w.number {
			return nil, told // another may be wanted by somebody who waits longer
		}
	}
	return w, verdict
}

// drop is called when a waiter took nothing. The message for which it was found is gone or, by now, meets what it did
// not meet: it is offered once more, by itself.
func (o *offering) drop(s *state) {
	x := heap.Pop(&o.heap).(offer)
	if e := o.at(&x); e.there() && e.claim() == nil {
		s.setAside(x.q, []entry{e})
	}
}

// at is the message of an offer; none when it is gone.
func (o *offering) at(x *offer) entry {
	if es := o.fresh[x.q]; x.at < len(es) {
		return es[x.at]
	}
	return none
}

// first tells whether nobody waits longer than w in any of the queues, if these are few.
func (o *offering) first(w *waiter) bool {
	const few = 8
	if len(o.fresh) > few {
		return false
	}
	for q := range o.fresh {
		if number, _, some := q.waiting.by.Min(); some && number < w.number {
			return false
		}
	}
	return true
}

// leave sets the messages of a queue aside: its waiters are being told to look again.
func (o *offering) leave(s *state, q *queueState, es []entry) {
	delete(o.fresh, q)
	if o.lined {
		q.waiting.offered()
	}
	if !q.gone {
		s.setAside(q, es)
	}
}

// aside sets all that is left aside, for a body has to be read.
func (o *offering) aside(s *state) {
	for q, es := range o.fresh {
		s.setAside(q, es)
	}
	o.heap = nil
}

// offer lets w take what it wants of the messages: of its earliest wish first, the oldest first. What it wants is found
// out before it takes any of it, so that this, too, can go on under another hold of the lock.
func (s *state) offer(o *offering, w *waiter) (taken int, verdict verdict) {
	n := &o.now
	if n.w != w {
		*n = offeredNow{w: w, places: n.places[:0]}
		if w.asker.max > 1 && w.choosy() {
			n.sure = map[entry]bool{}
		}
	}
	for enough := false; !enough; {
		if verdict = s.findWanted(o, w.asker.max-taken); verdict == tooMany && taken == 0 {
			return 0, tooMany
		}
		for _, x := range n.places {
			es := o.fresh[w.asker.from[x.from].q]
			if enough || x.at >= len(es) || !es[x.at].there() || es[x.at].claim() != nil {
				continue
			}
			more := 0
			more, enough = s.give(w, x.from, es[x.at], taken)
			if taken += more; es[x.at].claim() != nil {
				es[x.at] = none
			}
		}
		n.places, n.count, n.bytes = n.places[:0], 0, 0
		enough = enough || verdict != told || n.from == len(w.asker.from) // else another was faster
	}
	n.w = nil
	if taken > 0 {
		verdict = told
	}
	return taken, verdict
}

// findWanted looks for what the waiter who is being offered messages wants of them, from where it was looked for last,
// until it has found as much as that one takes.
func (s *state) findWanted(o *offering, most int) verdict {
	n := &o.now
	a := &n.w.asker
	enough := func() bool { return n.count >= most || a.maxBytes > 0 && a.bytes+n.bytes > a.maxBytes }
	for ; n.from < len(a.from); n.from, n.at = n.from+1, 0 {
		f := a.from[n.from]
		es, wished := o.fresh[f.q], wishOf(f.q, f.where)
		n.at = max(n.at, o.asked[wished])
		unmet := n.at == o.asked[wished]
		for ; n.at < len(es) && !enough(); n.at++ {
			if s.steps--; s.steps < 0 {
				return tooMany
			}
			if e := es[n.at]; n.sure[e] {
				unmet = false // for another one, should this one not take it
			} else if e != none && e.there() && e.claim() == nil {
				answer, steps := s.envKnown(f.q, e).ask(f.where)
				s.steps -= steps - 1
				switch answer {
				case mustRead:
					return bodyUnread
				case tooMuch:
					return tooHeavy
				}
				if answer == isMet {
					unmet = false
					n.places = append(n.places, offeredPlace{n.from, n.at})
					if s.claimable(f.q, e, a.claimant) && !f.q.spent(e) {
						n.count, n.bytes = n.count+1, n.bytes+int(e.size())
						if n.sure != nil {
							n.sure[e] = true
						}
					}
				}
			}
			if unmet {
				o.asked[wished] = n.at + 1
			}
		}
		if n.at < len(es) {
			return told
		}
	}
	return told
}

// give lets w take a message that meets a wish of its, and what it may take of the same key behind it. It tells how
// many it took, having taken some before, and whether it has enough.
func (s *state) give(w *waiter, from int, e entry, before int) (taken int, enough bool) {
	a := &w.asker
	f := a.from[from]
	for e != none && before+taken < a.max && s.claimable(f.q, e, a.claimant) {
		if before+taken > 0 && !a.fits(e) {
			return taken, true
		}
		if f.q.spent(e) { // as in choose
			s.doom(f.q, e, &s.exhausted)
			return taken, false
		}
		s.take(a, from, f.q, e)
		taken++
		e = s.nextOfKey(a, f, e)
	}
	return taken, before+taken == a.max
}
