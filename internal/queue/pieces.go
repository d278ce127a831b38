package queue

import (
	"slices"
)

// What a group does to many at once (to the subscriptions of a topic, to those who wait for a queue) is done in pieces.
// The group is applied, and what is left of it waits in a list; the Store does one piece of that under each hold of the
// lock. The group counts as under way until all of it is done: no checkpoint begins meanwhile, who defines or puts to
// what it concerns waits, and its caller is answered last. A fold does the pieces at once, and gets the same state.

// atOnce is how many subscriptions, or waiting claims, one piece concerns.
const atOnce = 256

// postponed is what is left to do of groups that were applied.
type postponed []func() (more bool)

// postpone leaves something to be done in pieces. piece does one, and tells whether there are more.
func (s *state) postpone(piece func() (more bool)) { s.postponed = append(s.postponed, piece) }

// doPostponed does a piece of what is left, and tells whether there is more.
func (s *state) doPostponed() (more bool) {
	if len(s.postponed) > 0 && !s.postponed[0]() {
		s.postponed[0] = nil
		s.postponed = s.postponed[1:]
	}
	return len(s.postponed) > 0
}

// apply is applyMost with all that this leaves to be done.
func (s *state) apply(group []applied, durable int64) error {
	err := s.applyMost(group, durable)
	for s.doPostponed() {
	}
	return err
}

// leaveAll lets the subscriptions of a topic that is gone be queues of their own, that nothing new reaches.
func (s *state) leaveAll(t *topicState) {
	next := uint32(0)
	s.postpone(func() (more bool) {
		n := 0
		t.subscribed.all.Ascend(next, func(id uint32, q *queueState) bool {
			if more = n == atOnce; more {
				return false
			}
			n, next = n+1, id+1
			if !q.gone {
				q.touch()
				s.follow(q)
				grown := q.def.topicResident()
				q.def.Topic, q.def.Filter, q.filter = "", "", nil
				s.renewed(q, -grown)
			}
			return true
		})
		return more
	})
}

// dismiss tells those who wait for messages of a queue that it is gone.
func (s *state) dismiss(q *queueState) {
	if q.waiting.Len() == 0 {
		return
	}
	s.postpone(func() (more bool) {
		for _, w := range q.waiting.some(0, ^uint64(0)) {
			s.unwait(w)
			s.tell(w)
		}
		return q.waiting.Len() > 0
	})
}

// dissolve lets go of the snapshots and the messages of a queue that is gone. Nobody finds them from now on.
func (s *state) dissolve(q *queueState) {
	left := q.snapshots
	q.snapshots, q.views, q.purgedTo = nil, nil, 0
	piece := func() (more bool) {
		if n := min(len(left), atOnce); n > 0 {
			for _, sn := range left[:n] {
				s.forgetSnapshot(sn)
			}
			left = left[n:]
			return true
		}
		s.applyPurged(q, q.stretch(q.purgedTo, ^uint64(0)))
		return q.all.pages.Len() > 0
	}
	if len(left) > atOnce || q.all.pages.Len() > stretch {
		s.postpone(piece)
		return
	}
	for piece() {
	}
}

// askAgain ends the waiting of those who wait for messages of q that meet a condition: they look again, by the columns
// that it has now. Who names a column that is not there any more is told so then. Until all were told nothing is handed
// to anybody of them.
func (s *state) askAgain(q *queueState) {
	if q.waiting.Len() == 0 {
		return
	}
	next, last := uint64(0), s.waiterNumber // those who come now know the columns, also in an old place
	q.waiting.recalled = true
	q.waiting.far = far{} // who was asked may come back, in an old place
	s.postpone(func() (more bool) {
		some := q.waiting.some(next, last)
		for _, w := range some {
			next = w.number + 1
			if slices.ContainsFunc(w.asker.from, func(f wanted) bool { return f.q == q && f.where != nil }) {
				w.again = w.taken == 0
				s.unwait(w)
				s.tell(w)
			}
		}
		if len(some) == atOnce {
			return true
		}
		q.waiting.recalled = false
		if len(q.unhanded) > 0 {
			s.fresh[q], q.unhanded = append(s.fresh[q], q.unhanded...), nil
		}
		return false
	})
}

// some are the first of those who wait, by their numbers from the first to the last one: as many as one piece concerns.
func (ws *waiting) some(first, last uint64) []*waiter {
	some := make([]*waiter, 0, min(atOnce, ws.Len()))
	ws.by.Ascend(first, func(number uint64, w *waiter) bool {
		if len(some) == atOnce || number > last {
			return false
		}
		some = append(some, w)
		return true
	})
	return some
}
