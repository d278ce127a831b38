package queue

import (
	"github.com/tidwall/btree"

	"github.com/hikyaku/hikyaku/internal/condition"
)

// A topic may have thousands of subscriptions. They stand in a tree that copies itself on write, by the numbers of the
// queues, which is the order in which they subscribed: so one comes or goes in a few steps, and who lists them, or
// saves them with a checkpoint, takes a copy along and gives up the lock.

// subscriptions are the queues that subscribe to a topic.
type subscriptions struct {
	all     btree.Map[uint32, *queueState]
	rows    btree.Map[uint32, *queueState] // those of them with columns: each gets a row of its own
	version uint64                         // of the columns of all of them
	filters condition.Effort               // of asking the filters of all of them about one message
}

// add takes a queue, in the place of the one of its number.
func (u *subscriptions) add(q *queueState) {
	if _, there := u.all.Set(q.id, q); !there && q.filter != nil {
		u.filters = u.filters.Plus(q.filter.Effort())
	}
}

// drop takes a queue out, if it is there.
func (u *subscriptions) drop(q *queueState) {
	if _, there := u.all.Delete(q.id); there && q.filter != nil {
		u.filters = u.filters.Plus(q.filter.Effort().Times(-1))
	}
	u.rows.Delete(q.id)
}

// Len is how many there are.
func (u *subscriptions) Len() int { return u.all.Len() }

// subscribe makes q a subscription of its topic, if that is there.
func (s *state) subscribe(q *queueState) {
	if t := s.topicOf(q.def.Topic); t != nil {
		t.touch(&s.saves)
		t.subscribed.add(q)
		s.newColumns(q)
	}
}

// unsubscribe ends that.
func (s *state) unsubscribe(q *queueState) {
	if t := s.topicOf(q.def.Topic); t != nil {
		t.touch(&s.saves)
		t.subscribed.drop(q)
	}
}

// newColumns has to be called when a queue has got other columns: what is published to its topic may need other rows.
func (s *state) newColumns(q *queueState) {
	t := s.topicOf(q.def.Topic)
	if t == nil {
		return
	}
	if q.def.Columns == nil {
		t.subscribed.rows.Delete(q.id)
	} else {
		t.subscribed.rows.Set(q.id, q)
	}
	s.versions++
	t.subscribed.version = s.versions
}

func (s *state) topicOf(full string) *topicState {
	if full == "" {
		return nil
	}
	n, err := ParseName(full)
	if err != nil {
		return nil
	}
	return s.topicNames[n]
}
