package queue

import (
	"iter"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// settleDown makes, after a fold, what the fold left out: who can be claimed, what time makes due. Claims that ended
// with their owner go back; all others stay until their deadline.
func (s *state) settleDown() {
	for _, q := range s.queues {
		s.forgetOld(q, len(q.forget))
		s.reopen(q)
		for _, sn := range q.snapshots {
			s.endAt(sn, sn.expire)
		}
		for p := range q.all.pagesFrom(0) {
			if p.attempts == nil && len(p.extras) == 0 && p.expires == nil && p.past.empty() {
				q.ready.addPage(p.number, p.there) // nothing holds them up
			} else {
				s.settlePage(q, p)
			}
		}
		for _, g := range q.keys {
			s.regroup(q, g)
		}
	}
}

// settlePage is settleDown for the messages of a page.
func (s *state) settlePage(q *queueState, p *page) {
	for slot := p.there.next(0); slot < pageSize; slot = p.there.next(slot + 1) {
		e := entry{p, uint8(slot)}
		if c := e.claim(); c != nil && c.owned {
			s.unclaim(q, e)
		}
		if e.claim() == nil && q.spent(e) {
			s.doom(q, e, &s.exhausted)
		}
		s.wakeAt(q, e)
		if e.group() == nil && s.eligible(q, e) {
			q.ready.Add(e.seq())
		}
	}
	s.forgetPage(q, p)
}

// live are the addresses of everything the state still needs.
func (s *state) live() iter.Seq[journal.Address] {
	return func(yield func(journal.Address) bool) {
		for _, r := range s.saves.retired {
			if !yield(r.record) {
				return
			}
		}
		bodies := map[*sharedBody]bool{}
		for _, q := range s.queues {
			more := true
			for p := range q.all.pagesFrom(0) {
				if p.record != (journal.Address{}) {
					more = yield(p.record)
				}
				kept := p.kept()
				for slot := kept.next(0); more && slot < pageSize; slot = kept.next(slot + 1) {
					e := entry{p, uint8(slot)}
					more = yield(e.addr())
					if b := e.shared(); more && b != nil && !bodies[b] {
						bodies[b] = true
						more = yield(b.addr)
					}
				}
				if !more {
					return
				}
			}
		}
	}
}
