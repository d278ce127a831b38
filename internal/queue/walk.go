package queue

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/hikyaku/hikyaku/internal/condition"
)

// walk looks at the messages of a queue in pieces. What its condition asks of them is asked without the lock, of what
// was taken along under it.
type walk struct {
	q       *queueState
	where   *condition.Expr
	version uint64   // of q, for which where was checked
	next    uint64   // where to go on; 0: there is nothing more
	end     uint64   // behind the last message that there was when it began
	seen    []looked // messages before next that were taken along and not asked yet
	kept    []looked // the memory of seen
}

// beginWalk begins a walk through a queue for messages that meet a condition.
func (s *Store) beginWalk(n Name, where *condition.Expr) (*walk, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.queueOf(n)
	if err != nil {
		return nil, err
	}
	w := &walk{q: q, where: where, next: 1, end: q.next}
	return w, w.check()
}

// check sees whether the queue has what the condition names. The lock is held.
func (w *walk) check() error {
	if w.version == w.q.version {
		return nil
	}
	w.version = w.q.version
	if w.where == nil {
		return nil
	}
	if err := w.where.Check(w.q.known, w.q.candidates()); err != nil {
		return fmt.Errorf("%w: queue %s: %w", ErrCondition, w.q.name.Short(), err)
	}
	return nil
}

// over tells whether there is nothing left to look at.
func (w *walk) over() bool { return w.next == 0 && len(w.seen) == 0 }

// lookOn takes the next messages along that are fit, unless some are left. What it took along before is used no more.
func (s *Store) lookOn(ctx context.Context, w *walk, fit func(e entry) bool) error {
	if len(w.seen) > 0 {
		return ctx.Err()
	}
	if err := s.enterWalk(ctx, w); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.catchUp()
	clear(w.kept)
	w.kept = w.kept[:0]
	w.step(func(e entry) bool {
		if fit(e) {
			w.kept = append(w.kept, w.q.look(e))
		}
		return true
	})
	w.seen = w.kept
	return nil
}

// askNext returns, of the messages that were taken along, the next that meet the condition, as they were when they were
// looked at: at most so many, and as far as bodies are read at once. It is called without the lock.
func (s *Store) askNext(ctx context.Context, w *walk, most int) (met []*looked, err error) {
	var asking []*looked
	asks, full := room{}, false
	for len(w.seen) > 0 && len(met) < most && !full {
		x := &w.seen[0]
		w.seen = w.seen[1:]
		unread := false
		if x.meets = true; w.where != nil {
			x.env = entryEnv{kept: x, body: bodyLater}
			x.meets = w.where.Match(&x.env)
			unread = x.env.body == bodyMissed
		}
		if unread {
			asking = append(asking, x)
			full = asks.full(x.size)
		}
		if x.meets || unread {
			met = append(met, x)
		}
	}
	if len(asking) > 0 {
		if err := s.askBodies(ctx, w.where, asking); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(met, func(x *looked) bool { return !x.meets }), nil
}

// enterWalk takes the lock for a step of a walk. On success it is held.
func (s *Store) enterWalk(ctx context.Context, w *walk) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	runtime.Gosched() // whoever waits for the lock gets it before the next piece
	s.mu.Lock()
	err := s.usable()
	if err == nil && w.q.gone {
		err = fmt.Errorf("%w: %s", ErrNotFound, w.q.name.Short())
	}
	if err == nil {
		err = w.check()
	}
	if err != nil {
		s.mu.Unlock()
	}
	return err
}

// step looks at the next messages until each returns false. The lock is held.
func (w *walk) step(each func(e entry) bool) {
	over := false
	w.next = w.q.all.piece(w.next, stepPiece, func(e entry) bool {
		if over = e.seq() >= w.end; over {
			return false
		}
		return each(e)
	})
	if over {
		w.next = 0
	}
}
