package queue

import (
	"cmp"
	"slices"

	"github.com/tidwall/btree"

	"github.com/hikyaku/hikyaku/internal/interest"
)

// waiter is a claim that found nothing and waits.
type waiter struct {
	number uint64 // order of arrival
	asker  asker
	taken  int
	served func(w *waiter) // called once, when at least one message was taken or a queue is gone
	gone   bool            // served or given up: it waits nowhere any more
	again  bool            // with gone: nothing was taken, it has to look again
}

// waiting are those who wait for messages of one queue, found by what they wait for.
type waiting struct {
	by    btree.Map[uint64, *waiter] // by number, the longest waiting first
	as    btree.Map[uint64, *waiter] // by claimant
	wants interest.Set               // numbers
	// how many of them name more than one queue or condition: for them the best is not always the oldest
	choosy int
	offers int   // offerings under way that have messages of the queue
	lane   *lane // of these; nil: there are none
	far    far
	// they are told to look again, in pieces, by the columns that there are now: nobody is handed anything meanwhile
	recalled bool
}

// Len is how many wait.
func (ws *waiting) Len() int { return ws.by.Len() }

// apart tells whether the queue's messages have to be offered with those of others, or behind some that are.
func (ws *waiting) apart() bool { return ws.choosy > 0 || ws.offers > 0 }

func byArrival(a, b *waiter) int { return cmp.Compare(a.number, b.number) }

// choosy tells whether what w takes first depends on more than age.
func (w *waiter) choosy() bool { return len(w.asker.from) > 1 }

// named are the wishes that an asker was made of, by the names that its queues have now.
func (a *asker) named(from []From) []From {
	now := slices.Clone(from)
	for i := range now {
		now[i].Queue = a.from[i].q.name
	}
	return now
}

// full tells whether w takes nothing more.
func (w *waiter) full() bool { return w.taken >= w.asker.max }

// wait makes w wait in its queues. Nothing that can be claimed now matches it.
func (s *state) wait(w *waiter) {
	if w.number == 0 { // else it waits again, in its old place
		s.waiterNumber++
		w.number = s.waiterNumber
	}
	for _, f := range w.asker.from {
		ws := &f.q.waiting
		ws.wants.Add(w.number, f.where)
		ws.as.Set(w.asker.claimant, w)
		if _, there := ws.by.Set(w.number, w); !there && w.choosy() {
			ws.choosy++
		}
	}
}

// unwait makes w wait nowhere.
func (s *state) unwait(w *waiter) {
	w.gone = true
	for _, f := range w.asker.from {
		ws := &f.q.waiting
		ws.wants.Remove(w.number, f.where)
		ws.as.Delete(w.asker.claimant)
		if _, there := ws.by.Delete(w.number); there && w.choosy() {
			ws.choosy--
		}
	}
}

// serve hands what has become claimable since the last call to those who wait for it: the longest waiting first, and
// each gets the best of all that is there, not the first that came.
func (s *state) serve() {
	s.steps = s.share
	for len(s.fresh) > 0 {
		fresh := s.fresh
		s.fresh = map[*queueState][]entry{}
		choosy := false
		for q, es := range fresh {
			if q.waiting.recalled {
				q.unhanded = append(q.unhanded, es...)
				delete(fresh, q)
				continue
			}
			slices.SortFunc(es, bySequence)
			s.steps += min(s.share, stepsForEach) * len(es)
			choosy = choosy || q.waiting.apart()
		}
		s.serveFresh(fresh, choosy)
	}
}

// serveFresh is serve for what is claimable since, in the order of sequences. Where older messages wait for their
// bodies it waits behind them. A queue that nobody waits at who has several wishes is served at once, whatever takes
// long elsewhere.
func (s *state) serveFresh(fresh map[*queueState][]entry, choosy bool) {
	behind := false
	for q, es := range fresh {
		apart := choosy && q.waiting.apart()
		switch {
		case s.unserved[q] != nil:
			s.setAside(q, es)
			behind = behind || apart
		case !apart:
			s.setAside(q, s.servePlain(q, es))
		}
		if choosy && !apart {
			delete(fresh, q)
		}
	}
	switch {
	case choosy && behind: // who wants several is offered all of it
		for q, es := range fresh {
			s.setAside(q, es)
		}
	case choosy:
		s.serveChoosy(fresh)
	}
}

// servePlain serves waiters who want nothing but the oldest that they match: then it is the same to give each message,
// the oldest first, to the one who waits longest for it, and that one is found without asking the others. It stops in
// front of a message whose body has to be read to find out who that is, or for which too many have to be asked, and
// returns the rest: whoever comes later must not be served first.
func (s *state) servePlain(q *queueState, es []entry) (rest []entry) {
	var served []*waiter
	for i := 0; i < len(es) && q.waiting.Len() > 0; i++ {
		e := es[i]
		if !e.there() || e.claim() != nil {
			continue
		}
		w, verdict := s.longestWaiting(q, e)
		if verdict != told {
			rest = es[i:]
			break
		}
		if w == nil {
			continue
		}
		if q.spent(e) { // as in choose
			s.doom(q, e, &s.exhausted)
			continue
		}
		if w.taken > 0 && !w.asker.fits(e) { // it has enough: the next in line
			s.unwait(w)
			i--
			continue
		}
		if w.taken == 0 {
			served = append(served, w)
		}
		w.asker.give(0, q, e)
		if w.taken++; w.full() {
			s.unwait(w)
			continue
		}
		if next := s.nextOfKey(&w.asker, w.asker.from[0], e); next != none {
			es = slices.Insert(es, i+1, next)
		}
	}
	slices.SortFunc(served, byArrival)
	for _, w := range served {
		if !w.gone {
			s.unwait(w)
		}
		w.served(w)
	}
	return rest
}

// envKnown is env for who hands messages over: bodies are known that were read for it.
func (s *state) envKnown(q *queueState, e entry) *entryEnv {
	env := s.env(q, e)
	if x := s.known[e]; x != nil {
		env.body, env.part = x.env.body, x.env.part
	} else if s.body == nil {
		env.body = bodyLater
	}
	return env
}
