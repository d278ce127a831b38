package queue

import (
	"cmp"
	"slices"

	"github.com/hikyaku/hikyaku/internal/condition"
)

// wanted is one resolved entry of a claim's From.
type wanted struct {
	q     *queueState
	where *condition.Expr
	find  finder // of choose, when it was made with the lock held ever since; nil: choose makes it
}

// reader who asks: what choosing has to know of it.
type asker struct {
	from     []wanted
	max      int
	maxBytes int    // 0: no bound
	bytes    int    // taken so far
	claimant uint64 // never 0
	owner    *Owner
	take     func(from int, q *queueState, e entry) // claims e in the state
}

// choose takes up to max messages: earlier entries of from first, the oldest first within one.
func (s *state) choose(a *asker) (taken int) {
	for i, w := range a.from {
		if taken == a.max {
			break
		}
		if w.q.gone {
			continue
		}
		find := w.find
		if find == nil {
			find = s.ready(w.q, w.where)
		}
		extra := s.held(a, w)
		for taken < a.max {
			e := earliest(extra)
			if ready := find.oldest(s, w.q); ready != none && (e == none || ready.seq() < e.seq()) {
				e = ready
			}
			if e == none {
				break
			}
			if taken > 0 && !a.fits(e) {
				return taken
			}
			extra = without(extra, e)
			if w.q.spent(e) { // the bound was lowered while it waited
				s.doom(w.q, e, &s.exhausted)
				continue
			}
			a.give(i, w.q, e)
			taken++
			if next := s.nextOfKey(a, w, e); next != none {
				extra = append(extra, next)
			}
		}
	}
	return taken
}

// fits tells whether e is within the bound of bytes.
func (a *asker) fits(e entry) bool { return a.maxBytes == 0 || a.bytes+int(e.size()) <= a.maxBytes }

func (a *asker) give(from int, q *queueState, e entry) {
	a.bytes += int(e.size())
	a.take(from, q, e)
}

// held finds what the asker may take of keys that it holds already.
func (s *state) held(a *asker, w wanted) (extra []entry) {
	if a.owner == nil {
		return nil
	}
	for g := range a.owner.keysIn(w.q) {
		e := g.first(a.claimant, s.now)
		if e != none && e != g.head && s.meets(w, e) {
			extra = append(extra, e)
		}
	}
	return extra
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
	return w.where == nil || w.where.Match(s.env(w.q, e))
}

func earliest(es []entry) entry {
	if len(es) == 0 {
		return none
	}
	return slices.MinFunc(es, bySequence)
}

func without(es []entry, e entry) []entry {
	return slices.DeleteFunc(es, func(x entry) bool { return x == e })
}

// bySequence orders messages of one queue.
func bySequence(a, b entry) int { return cmp.Compare(a.seq(), b.seq()) }

// waiter is a claim that found nothing and waits.
type waiter struct {
	number uint64 // order of arrival
	asker  asker
	served func(w *waiter) // called once, when at least one message was taken or a queue is gone
	gone   bool            // served or given up: in no list any more
}

// wait puts w in the lists of its queues. Nothing that can be claimed now matches it.
func (s *state) wait(w *waiter) {
	s.waiterNumber++
	w.number = s.waiterNumber
	for q := range w.queues() {
		q.waiters = append(q.waiters, w)
	}
}

// unwait takes w out of all lists.
func (s *state) unwait(w *waiter) {
	w.gone = true
	for q := range w.queues() {
		q.waiters = slices.DeleteFunc(q.waiters, func(x *waiter) bool { return x == w })
	}
}

func (w *waiter) queues() map[*queueState]struct{} {
	qs := make(map[*queueState]struct{}, len(w.asker.from))
	for _, f := range w.asker.from {
		qs[f.q] = struct{}{}
	}
	return qs
}

// serve hands what has become claimable since the last call to those who wait for it: the longest waiting first, and each gets
// the best of all that is there, not the first that came.
func (s *state) serve() {
	for len(s.fresh) > 0 {
		var ws []*waiter
		for q := range s.fresh {
			ws = append(ws, q.waiters...)
		}
		if len(s.fresh) > 1 {
			slices.SortFunc(ws, func(a, b *waiter) int { return cmp.Compare(a.number, b.number) })
			ws = slices.Compact(ws)
		}
		fresh := s.fresh
		s.fresh = map[*queueState][]entry{}
		for _, es := range fresh {
			slices.SortFunc(es, bySequence)
		}
		for _, w := range ws {
			if !w.gone && s.offer(w, fresh) > 0 {
				s.unwait(w)
				w.served(w)
			}
		}
	}
}

// offer lets w take what it wants of the fresh messages.
func (s *state) offer(w *waiter, fresh map[*queueState][]entry) (taken int) {
	a := &w.asker
	enough := false
	for i, f := range a.from {
		es := fresh[f.q]
		for j := 0; j < len(es) && taken < a.max && !enough; j++ {
			e := es[j]
			if e == none || !s.claimable(f.q, e, a.claimant) || !s.meets(f, e) {
				continue
			}
			if enough = taken > 0 && !a.fits(e); enough {
				break
			}
			es[j] = none
			if f.q.spent(e) { // as in choose
				s.doom(f.q, e, &s.exhausted)
				continue
			}
			a.give(i, f.q, e)
			taken++
			if next := s.nextOfKey(a, f, e); next != none && taken < a.max {
				es = slices.Insert(es, j+1, next)
			}
		}
		fresh[f.q] = slices.DeleteFunc(es, func(e entry) bool { return e == none })
	}
	return taken
}

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
