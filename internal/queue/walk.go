package queue

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/hikyaku/hikyaku/internal/condition"
)

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
	w.takeAlong(fit)
	return nil
}

// askNext returns, of the messages that were taken along, the next that meet the condition, as they were when they were
// looked at: at most so many, and as far as bodies are read at once. It is called without the lock.
func (s *Store) askNext(ctx context.Context, w *walk, most int) (met []*looked, err error) {
	met, asking := w.ask(givenUp(ctx), most)
	if err := ctx.Err(); err != nil {
		return nil, err
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
