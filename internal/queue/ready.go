package queue

import (
	"github.com/tidwall/btree"

	"github.com/hikyaku/hikyaku/internal/condition"
)

// maxMatchers is how many conditions a queue remembers the matching messages of.
const maxMatchers = 16

// matcher keeps, for one condition, which ready messages match it, so that a claim does not look at the others again.
type matcher struct {
	text    string
	where   *condition.Expr
	matched btree.Map[uint64, *entry]
}

// eligible tells whether a reader that holds nothing could claim e now.
func (s *state) eligible(q *queueState, e *entry) bool {
	switch {
	case e.claim != nil, e.wake > s.now:
		return false
	case e.group != nil:
		return e.group.head == e
	}
	return true
}

// changed looks at e again after something that may have made it claimable.
func (s *state) changed(q *queueState, e *entry) {
	if s.folding {
		return
	}
	if e.group != nil {
		s.regroup(q, e.group)
		if e.claim == nil && e.group.head != e {
			s.noticed(q, e) // its key's holder may take it
		}
		return
	}
	if s.eligible(q, e) {
		s.show(q, e)
	}
}

// regroup finds again which message of a key is the ready one.
func (s *state) regroup(q *queueState, g *keyGroup) {
	if s.folding {
		return
	}
	head := g.first(0, s.now)
	if head == g.head {
		return
	}
	if g.head != nil {
		s.hide(q, g.head)
	}
	if g.head = head; head != nil {
		s.show(q, head)
	}
}

// freed tells the holder of a key that waits, if there is one, that something in front of what it may take next is gone.
func (s *state) freed(q *queueState, g *keyGroup) {
	if s.folding || g.head != nil || len(q.waiters) == 0 {
		return
	}
	g.members.Scan(func(_ uint64, e *entry) bool {
		if e.claim == nil && e.wake <= s.now {
			s.noticed(q, e)
			return false
		}
		return true
	})
}

// show adds e to what can be claimed.
func (s *state) show(q *queueState, e *entry) {
	if _, there := q.ready.Set(e.seq, e); there {
		return
	}
	for _, m := range q.matchers {
		if m.where.Match(s.env(q, e)) {
			m.matched.Set(e.seq, e)
		}
	}
	s.noticed(q, e)
}

// hide takes e out of what can be claimed.
func (s *state) hide(q *queueState, e *entry) {
	if _, there := q.ready.Delete(e.seq); !there {
		return
	}
	for _, m := range q.matchers {
		m.matched.Delete(e.seq)
	}
	if e.group != nil && e.group.head == e {
		e.group.head = nil
	}
}

func (s *state) noticed(q *queueState, e *entry) {
	if len(q.waiters) > 0 {
		s.fresh[q] = append(s.fresh[q], e)
	}
}

// matching returns the ready messages that match where; nil is every one. The first use of a condition looks at all of them.
func (s *state) matching(q *queueState, where *condition.Expr) *btree.Map[uint64, *entry] {
	if where == nil {
		return &q.ready
	}
	text := where.String()
	for i, m := range q.matchers {
		if m.text == text {
			copy(q.matchers[1:i+1], q.matchers[:i])
			q.matchers[0] = m
			return &m.matched
		}
	}
	m := &matcher{text: text, where: where}
	q.ready.Scan(func(seq uint64, e *entry) bool {
		q.scanned++
		if where.Match(s.env(q, e)) {
			m.matched.Set(seq, e)
		}
		return true
	})
	q.matchers = append([]*matcher{m}, q.matchers[:min(len(q.matchers), maxMatchers-1)]...)
	return &m.matched
}
