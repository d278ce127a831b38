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
	who    any    // of whoever made it wait; the state does not look at it
	gone   bool   // served or given up: it waits nowhere any more
	again  bool   // with gone: nothing was taken, it has to look again
	upto   uint64 // of who has taken some and waits on: the last message that it waits for
	given  bool   // it was given some since it was told of it
	listed bool   // it is in state.served
}

// tell lists a waiter that has taken some, or a queue of which is gone: once with gone, before perhaps without. Nobody
// is called while others are still being served.
func (s *state) tell(w *waiter) {
	if !w.listed {
		w.listed = true
		s.served = append(s.served, w)
	}
}

// eachServed calls f for those who were listed, in their order, and forgets them.
func (s *state) eachServed(f func(w *waiter)) {
	for i, w := range s.served {
		s.served[i], w.listed = nil, false
		f(w)
	}
	s.served = s.served[:0]
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
	part   []*waiter // who have taken some, and wait on until what is set aside was looked through; some are gone
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
			s.servePlain(q, es)
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
// sets the rest aside: whoever comes later must not be served first. Who has taken some of what it wants by then waits
// on for the rest, and gets what it would have got at once.
func (s *state) servePlain(q *queueState, es []entry) {
	ws := &q.waiting
	var served []*waiter
	tell := func(w *waiter) {
		if !w.given {
			w.given, served = true, append(served, w)
		}
	}
	for i := 0; i < len(es) && ws.Len() > 0; i++ {
		e := es[i]
		if !e.there() || e.claim() != nil {
			continue
		}
		w, verdict := s.longestWaiting(q, e)
		if verdict != told {
			s.setAside(q, es[i:])
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
			tell(w)
			i--
			continue
		}
		tell(w)
		s.take(&w.asker, 0, q, e)
		if w.taken++; w.full() {
			s.unwait(w)
			continue
		}
		if next := s.nextOfKey(&w.asker, w.asker.from[0], e); next != none {
			es = slices.Insert(es, i+1, next)
		}
	}
	s.hand(q, served)
}

// hand tells waiters that they have taken some. Who may get more of what is set aside waits on, but not for what comes
// there later: that might have no end.
func (s *state) hand(q *queueState, served []*waiter) {
	slices.SortFunc(served, byArrival)
	least, last, more := s.asideFrom(q)
	for _, w := range served {
		w.given = false
		switch {
		case w.gone || w.upto != 0:
		case more:
			w.upto = last
			q.waiting.part = append(q.waiting.part, w)
		default:
			s.unwait(w)
		}
		s.tell(w)
	}
	if !more {
		least = ^uint64(0)
	}
	s.handPart(q, least)
}

// handPart tells those who have taken some, and waited on for messages before the least that is left, that there is no
// more for them.
func (s *state) handPart(q *queueState, least uint64) {
	part := q.waiting.part
	for len(part) > 0 && (part[0].gone || part[0].upto < least) {
		w := part[0]
		if part[0], part = nil, part[1:]; !w.gone {
			s.unwait(w)
			s.tell(w)
		}
	}
	if q.waiting.part = part; len(part) == 0 {
		q.waiting.part = nil
	}
}

// envKnown is env for who hands messages over: bodies are known that were read for it.
func (s *state) envKnown(q *queueState, e entry) *entryEnv {
	env := s.env(q, e)
	if x := s.known[e]; x != nil {
		env.body, env.part = x.env.body, x.env.part
	}
	return env
}
