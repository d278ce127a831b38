package queue

// verdict is what came of asking who waits for a message.
type verdict uint8

const (
	told       verdict = iota // it is known: somebody, or nobody
	bodyUnread                // that cannot be told without its body
	tooMany                   // nor with the steps that are left
	tooHeavy                  // nor under the lock
)

// far is a message for which so many wait by conditions that no index serves that one hold of the lock is too short to
// ask them all: they are asked one by one, in the order of their arrival. Each queue has one at a time.
type far struct {
	some bool // there is such a message
	seq  uint64
	next uint64 // the number from which on they are still to be asked
}

func (f *far) is(e entry) bool { return f.some && f.seq == e.seq() }

// longestWaiting is who of those who may claim e waits longest for it; nil: nobody does.
func (s *state) longestWaiting(q *queueState, e entry) (*waiter, verdict) {
	if g := e.group(); g != nil && g.head != e { // one may at most: who holds what is before it of its key
		w, waits := q.waiting.as.Get(g.claimantBefore(e))
		if !waits || !s.claimable(q, e, w.asker.claimant) {
			return nil, told
		}
		if w, v := s.wishing(w, q, e); v != tooHeavy {
			return w, v
		}
		s.lookItself(w)
		return nil, told
	}
	if !s.claimable(q, e, 0) {
		return nil, told // nobody may
	}
	if s.patient && q.waiting.far.is(e) {
		return s.askEach(q, e)
	}
	whole := s.steps >= s.share
	env := s.envKnown(q, e)
	for again := true; again; {
		again = false
		for number, sure := range q.waiting.wants.Within(env, &s.steps) {
			if env.body == bodyMissed {
				break
			}
			w, _ := q.waiting.by.Get(number)
			if sure {
				return w, told
			}
			s.lookItself(w)
			again = true // the walk has to begin anew, for there is one less who waits
			break
		}
	}
	switch {
	case env.body == bodyMissed:
		return nil, bodyUnread
	case s.steps >= 0:
		return nil, told
	case s.patient && whole:
		q.waiting.far = far{some: true, seq: e.seq()}
	}
	return nil, tooMany
}

// askEach goes on asking those who wait for a message, one by one, while steps are left.
func (s *state) askEach(q *queueState, e entry) (w *waiter, v verdict) {
	for v = tooHeavy; v == tooHeavy; {
		v = told
		var heavy *waiter
		q.waiting.by.Ascend(q.waiting.far.next, func(number uint64, x *waiter) bool {
			if s.steps--; s.steps < 0 {
				q.waiting.far.next, v = number, tooMany
				return false
			}
			w, v = s.wishing(x, q, e)
			heavy = x
			return w == nil && v == told
		})
		if v == tooHeavy {
			q.waiting.far.next = heavy.number + 1
			s.lookItself(heavy)
		}
	}
	if v != tooMany {
		q.waiting.far = far{}
	}
	return w, v
}

// wishing returns w if it wants e.
func (s *state) wishing(w *waiter, q *queueState, e entry) (*waiter, verdict) {
	for _, f := range w.asker.from {
		if f.q != q {
			continue
		}
		a, steps := s.envKnown(q, e).ask(f.where)
		s.steps -= steps - 1
		switch a {
		case mustRead:
			return nil, bodyUnread
		case tooMuch:
			return nil, tooHeavy
		case isMet:
			return w, told
		}
	}
	return nil, told
}
