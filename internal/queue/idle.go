package queue

import (
	"github.com/hikyaku/hikyaku/internal/condition"
)

// Idle tells whether the queue holds nothing that matches where: nothing ready, delayed, claimed or behind another, nor
// on its way into the journal. A long queue is looked through in pieces, with everybody else in between; when it cannot
// be, it is not idle.
func (s *Store) Idle(n Name, where *condition.Expr) bool {
	w := &walk{where: where, next: 1, end: ^uint64(0)}
	for {
		idle, done, ask, others := s.idle(n, w)
		if done {
			return idle
		}
		if len(others) > 0 {
			if err := s.askBodies(s.ctx, where, others); err != nil {
				return false
			}
			for _, x := range others {
				if x.meets {
					return false
				}
			}
			continue
		}
		if err := s.goOn(s.ctx, ask); err != nil {
			return false
		}
	}
}

// idle looks at a piece: at the ready messages by what claims use, at the others one by one. What was not ready when it
// was passed and is ready by now is found with the ready ones: they are looked at anew with each piece, also with the
// last. done is false when there is more to do: to read bodies for a view or of messages that are not ready.
func (s *Store) idle(n Name, w *walk) (idle, done bool, ask *questions, others []*looked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.state.queueNames[s.Resolve(n)]
	switch {
	case q == nil:
		return true, true, nil, nil
	case q != w.q: // it was made anew
		w.q, w.next = q, 1
	}
	if q.reserved > 0 {
		return false, true, nil, nil
	}
	ws := []wanted{{q: q, where: w.where}}
	if err := gather(ws); err != nil {
		return false, true, nil, nil
	}
	built, ask := s.buildFor(ws, 1)
	if !built {
		return false, false, ask, nil
	}
	if ws[0].find.oldest(s.state, q) != none {
		return false, true, nil, nil
	}
	if ws[0].find.more() {
		return false, false, nil, nil
	}
	if w.next == 0 || q.all.Len() == q.ready.Len() {
		return true, true, nil, nil
	}
	found := false
	asks := room{}
	w.step(func(e entry) bool {
		if s.state.stateOf(q, e) == Ready {
			return true
		}
		meets, unread := s.state.ask(q, e, w.where)
		if unread {
			x := q.look(e)
			others = append(others, &x)
		}
		found = meets
		return !found && !(unread && asks.full(e.size()))
	})
	return false, found, nil, others
}
