package queue

import (
	"cmp"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
)

// wanted is one resolved entry of a claim's From.
type wanted struct {
	q     *queueState
	where *condition.Expr
	find  finder // of choose, made with the lock held ever since
}

// reader who asks: what choosing has to know of it.
type asker struct {
	from     []wanted
	max      int
	maxBytes int           // 0: no bound
	bytes    int           // taken so far
	claimant uint64        // never 0
	byKey    bool          // all of one key before the next
	apart    bool          // each claim stays when one before it of its key goes back
	lease    time.Duration // of its claims; 0: as long as its owner lives or, without one, as the queue says
	owner    *owner
	picks    []picked // what it was given: the Store writes it down
	// nothing was taken, and yet there may be something: build what is needed and choose again
	again bool
}

// choose takes up to max messages: earlier entries of from first, the oldest first within one.
func (s *state) choose(a *asker) (taken int) {
	spent := 0
	for i, w := range a.from {
		if taken == a.max {
			break
		}
		if w.q.gone {
			continue
		}
		next := s.successors(a, w)
		for taken < a.max {
			e := next.oldest()
			if e == none || !a.byKey {
				if ready := w.find.oldest(s, w.q); ready != none && (e == none || ready.seq() < e.seq()) {
					e = ready
				}
			}
			if e == none && w.find.more() {
				a.again = taken == 0
				return taken
			}
			if e == none {
				break
			}
			if taken > 0 && !a.fits(e) {
				return taken
			}
			next.some.Delete(e.seq())
			if w.q.spent(e) { // the bound was lowered while it waited
				s.doom(w.q, e, &s.exhausted)
				if spent++; spent == walkPiece {
					a.again = taken == 0
					return taken
				}
				continue
			}
			s.take(a, i, w.q, e)
			taken++
			next.add(s.nextOfKey(a, w, e))
		}
	}
	return taken
}

// fits tells whether e is within the bound of bytes.
func (a *asker) fits(e entry) bool { return a.maxBytes == 0 || a.bytes+int(e.size()) <= a.maxBytes }

// nextOfKey is the message that the asker may take after e of the same key.
func (s *state) nextOfKey(a *asker, w wanted, e entry) entry {
	g := e.group()
	if g == nil {
		return none
	}
	next := g.first(a.claimant, s.now)
	if next == none || !s.meets(w, next) {
		return none
	}
	return next
}

// meets tells whether e is known to meet a wish.
func (s *state) meets(w wanted, e entry) bool {
	a, _ := s.envKnown(w.q, e).ask(w.where)
	return a == isMet
}

// bySequence orders messages of one queue.
func bySequence(a, b entry) int { return cmp.Compare(a.seq(), b.seq()) }

// claimable tells whether a claimant could claim e now.
func (s *state) claimable(q *queueState, e entry, claimant uint64) bool {
	if !e.there() {
		return false
	}
	if g := e.group(); g != nil {
		return g.first(claimant, s.now) == e
	}
	return s.eligible(q, e)
}
