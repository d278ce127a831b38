package queue

import (
	"context"

	"github.com/hikyaku/hikyaku/internal/condition"
)

// Idle tells whether the queue holds nothing that matches where: nothing ready, delayed, claimed or behind another, nor
// on its way into the journal. A long queue is looked through in pieces, with everybody else in between. Errors: ctx's,
// ErrClosed, ErrUnavailable.
func (s *Store) Idle(ctx context.Context, n Name, where *condition.Expr) (bool, error) {
	planAll([]From{{n, where}})
	w := &walk{where: where, next: 1, end: ^uint64(0)}
	for ctx.Err() == nil {
		idle, done, ask := s.idle(n, w)
		if done {
			return idle, s.soundNow()
		}
		for len(w.seen) > 0 {
			if met, err := s.askNext(ctx, w, 1); err != nil || len(met) > 0 {
				return false, err
			}
		}
		if err := s.goOn(ctx, ask); err != nil {
			return false, err
		}
	}
	return false, ctx.Err()
}

// idle looks at a piece: at the ready messages by what claims use, and takes others along, to be asked without the
// lock. What was not ready when it was passed and is ready by now is found with the ready ones: they are looked at anew
// with each piece, also with the last. done is false when there is more to do: to read bodies for a view or to ask
// about messages that are not ready.
func (s *Store) idle(n Name, w *walk) (idle, done bool, ask *questions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.state.queueNames[s.Resolve(n)]
	switch {
	case q == nil:
		return true, true, nil
	case q != w.q: // it was made anew
		w.q, w.next = q, 1
	}
	return s.state.idle(w)
}
