package queue

import (
	"cmp"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
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

// picked is a message that was claimed in the state; its body is still to be read.
type picked struct {
	from     int
	q        *queueState
	name     Name // of q, when it was claimed
	e        entry
	token    Token
	attempt  uint32
	deadline int64
	until    time.Time // the deadline as the reader is told
	head     []byte
	place    journal.Address
	size     int64
	layout   *layout
	columns  message.Columns
	hops     message.Hops

	owned, exactlyOnce bool
}

// event is what is written down of it.
func (p *picked) event() claimed {
	t := &p.token
	return claimed{queue: t.Queue, seq: t.Sequence, attempt: p.attempt, epoch: t.Epoch, serial: t.Serial,
		deadline: p.deadline, owned: p.owned}
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

// take claims e for the asker.
func (s *state) take(a *asker, from int, q *queueState, e entry) {
	a.bytes += int(e.size())
	deadline := int64(0)
	switch {
	case a.lease > 0:
		deadline = s.now + a.lease.Microseconds()
	case a.owner == nil:
		deadline = s.now + q.def.ClaimLease().Microseconds()
	}
	s.serial++
	a.picks = append(a.picks, picked{
		from: from, q: q, name: q.name, e: e, attempt: e.attempts() + 1, deadline: deadline, head: e.head(),
		place: e.place(), size: e.size(),
		until:  s.time.shown(deadline, s.now),
		layout: q.layoutOf(e.seq()), columns: q.def.Columns,
		token: Token{Queue: q.id, Sequence: e.seq(), Serial: s.serial, Epoch: s.epoch},
		owned: a.owner != nil, exactlyOnce: q.def.ExactlyOnce,
	})
	p := &a.picks[len(a.picks)-1]
	ev := p.event()
	s.claim(q, e, &ev, holder{owner: a.owner, claimant: a.claimant, at: s.clock, apart: a.apart})
	p.hops = e.hops()
}

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

func (s *state) meets(w wanted, e entry) bool {
	return w.where == nil || w.where.Match(s.envKnown(w.q, e))
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
