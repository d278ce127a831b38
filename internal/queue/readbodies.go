package queue

import (
	"context"
	"fmt"
	"runtime"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/journal"
)

// askBodies reads the bodies of those that ask for them, and finds out whether they meet a condition. It is called
// without the lock.
func (s *Store) askBodies(ctx context.Context, where *condition.Expr, xs []*looked) error {
	return s.readBodies(ctx, xs, func(x *looked) { x.meets = where.Match(&x.env) })
}

// readBodies reads the bodies of messages and lets judge find something out of each.
func (s *Store) readBodies(ctx context.Context, xs []*looked, judge func(x *looked)) error {
	places := make([]journal.Address, len(xs))
	for i, x := range xs {
		places[i] = x.place
	}
	over := givenUp(ctx)
	err := s.journal.Read(ctx, places, func(i int, r journal.Record, err error) {
		xs[i].know(r.Body, err, over)
		judge(xs[i])
	})
	if err == nil {
		err = ctx.Err() // it may have been given up while one of them was asked
	}
	if err != nil {
		return fmt.Errorf("read the messages that a condition asks for: %w", err)
	}
	return nil
}

// goOn lets everybody else have the lock and reads meanwhile what a view has to know; nil: nothing. It is called
// without the lock.
func (s *Store) goOn(ctx context.Context, ask *questions) error {
	if ask == nil {
		runtime.Gosched()
		return ctx.Err()
	}
	if ask.reading == nil {
		s.mu.Lock()
		ask.begin()
		s.mu.Unlock()
	}
	if ask.reading != nil {
		select {
		case <-ask.reading:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := s.readBodies(ctx, ask.xs, ask.view.judge)
	s.mu.Lock()
	defer s.mu.Unlock()
	ask.end(s.state, err == nil)
	return err
}

// givenUp tells whether who asks has given up.
func givenUp(ctx context.Context) func() bool { return func() bool { return ctx.Err() != nil } }
