package queue

import "github.com/hikyaku/hikyaku/internal/journal"

// What a group does to many at once, as the deletion of a topic to its subscriptions, is done in pieces. The group is
// applied, and what is left of it waits in a list; the Store does one piece of that under each hold of the lock. The
// group counts as under way until all of it is done: no checkpoint begins meanwhile, who defines or puts to what it
// concerns waits, and its caller is answered last. A fold does the pieces at once, and gets the same state.

// atOnce is how many subscriptions, or waiting claims, one piece concerns.
const atOnce = 256

// unfinished is what is left to do of groups that were applied.
type unfinished []func() (more bool)

// later leaves something to be done in pieces. piece does one, and tells whether there are more.
func (s *state) later(piece func() (more bool)) { s.unfinished = append(s.unfinished, piece) }

// goOn does a piece of what is left, and tells whether there is more.
func (s *state) goOn() (more bool) {
	if len(s.unfinished) > 0 && !s.unfinished[0]() {
		s.unfinished[0] = nil
		s.unfinished = s.unfinished[1:]
	}
	return len(s.unfinished) > 0
}

// apply is applyMost with all that this leaves to be done.
func (s *state) apply(group []applied, durable int64) error {
	err := s.applyMost(group, durable)
	for s.goOn() {
	}
	return err
}

// applyRest does what applyMost left to be done, a piece under each hold of the lock. It is called without the lock.
func (s *Store) applyRest() {
	var released []journal.Address
	for more := true; more; {
		s.mu.Lock()
		if more = s.state.goOn(); !more {
			released = s.state.takeReleased()
		}
		s.mu.Unlock()
	}
	s.journal.Release(released...)
}

// leaveAll lets the subscriptions of a topic that is gone be queues of their own, that nothing new reaches.
func (s *state) leaveAll(t *topicState) {
	next := uint32(0)
	s.later(func() (more bool) {
		n := 0
		t.subscribed.all.Ascend(next, func(id uint32, q *queueState) bool {
			if more = n == atOnce; more {
				return false
			}
			n, next = n+1, id+1
			if !q.gone {
				q.touch()
				q.def.Topic, q.def.Filter = "", ""
				s.redefined(q)
			}
			return true
		})
		return more
	})
}
