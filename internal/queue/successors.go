package queue

import (
	"math"
	"slices"
)

// askedNext are, of the messages that an owner may take next of keys that it holds, those that meet a condition. Each
// is asked once, and many in pieces, before a claim with that condition looks for the oldest.
type askedNext struct {
	text    string
	version uint64      // of the queue, when it began
	upto    uint64      // sequences up to this one were asked,
	late    sequenceSet // but for these, that came later
	met     sequenceSet
}

// fewAsked is how many conditions an owner keeps for a queue, unless one claim has more.
const fewAsked = 4

// openNext adds what the owner may take next.
func (h *holding) openNext(seq uint64) {
	h.next.Add(seq)
	for _, a := range h.asked {
		if seq <= a.upto {
			a.late.Add(seq)
		}
	}
}

// closeNext takes it out again.
func (h *holding) closeNext(seq uint64) {
	h.next.Delete(seq)
	for _, a := range h.asked {
		a.late.Delete(seq)
		a.met.Delete(seq)
	}
}

// askedFor finds or begins what is known of a wish; wishes is how many the claim has.
func (h *holding) askedFor(w wanted, wishes int) *askedNext {
	text := w.where.String()
	at := slices.IndexFunc(h.asked, func(a *askedNext) bool { return a.text == text })
	if at >= 0 && h.asked[at].version == w.q.version {
		return h.asked[at]
	}
	a := &askedNext{text: text, version: w.q.version}
	if at >= 0 {
		h.asked[at] = a
		return a
	}
	if most := max(fewAsked, wishes); len(h.asked) >= most {
		h.asked = h.asked[:most-1]
	}
	h.asked = slices.Insert(h.asked, 0, a)
	return a
}

// ask asks at most so many messages, of which it takes off those that it asked, and tells whether all were asked.
func (a *askedNext) ask(s *state, h *holding, w wanted, most *int) (all bool) {
	ask := func(seq uint64) {
		if e, there := w.q.all.Get(seq); there && s.meets(w, e) {
			a.met.Add(seq)
		}
	}
	for ; *most > 0; *most-- {
		seq, some := a.late.Min()
		if !some {
			break
		}
		a.late.Delete(seq)
		ask(seq)
	}
	all = a.late.Len() == 0
	h.next.AscendFrom(a.upto+1, func(seq uint64) bool {
		if *most <= 0 {
			all = false
			return false
		}
		*most--
		ask(seq)
		a.upto = seq
		return true
	})
	return all
}

// askSuccessors goes on asking what an owner may take next of keys that it holds whether it meets its wishes, by a
// piece, and tells whether all of it was asked.
func (s *state) askSuccessors(o *owner, ws []wanted) (all bool) {
	left := walkPiece // of all wishes together
	for _, w := range ws {
		if h := o.queues[w.q]; h != nil && w.where != nil {
			if !h.askedFor(w, len(ws)).ask(s, h, w, &left) {
				return false
			}
		}
	}
	return true
}

// successors is what an asker may take of keys that it holds already.
type successors struct {
	s      *state
	owner  *owner // nil: what some has is all
	w      wanted
	wishes int
	some   sequenceSet
}

// successors finds what the asker may take of keys that it holds already: what its owner has, as it changes.
func (s *state) successors(a *asker, w wanted) successors {
	return successors{s: s, owner: a.owner, w: w, wishes: len(a.from)}
}

// from is the set of them.
func (f *successors) from() *sequenceSet {
	if f.owner == nil {
		return &f.some
	}
	h := f.owner.queues[f.w.q]
	switch {
	case h == nil:
		return &f.some // empty
	case f.w.where == nil:
		return &h.next
	}
	a := h.askedFor(f.w, f.wishes)
	all := math.MaxInt // few: most were asked before
	a.ask(f.s, h, f.w, &all)
	return &a.met
}

// oldest is the first of them; none when there are none.
func (f *successors) oldest() entry {
	seq, ok := f.from().Min()
	if !ok {
		return none
	}
	e, _ := f.w.q.all.Get(seq)
	return e
}

// add adds what follows a message that was taken.
func (f *successors) add(e entry) {
	if f.owner == nil && e != none { // else the owner has it
		f.some.Add(e.seq())
	}
}
