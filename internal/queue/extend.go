package queue

import (
	"context"
	"fmt"
	"time"
)

// Extend moves the end of claims to lease from now. For each token it returns nil, or ErrStale where the claim was over
// already. Claims that end with their owner get a deadline as well.
func (s *Store) Extend(ctx context.Context, tokens []Token, lease time.Duration) ([]error, error) {
	if lease < 0 || lease > MaxLease {
		return nil, fmt.Errorf("lease is %v: it has to be between 0 and %v", lease, MaxLease)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	errs, seen, sync, err := s.extend(tokens, lease)
	if err != nil {
		return errs, err
	}
	if err = s.keep(ctx, sync); err == nil {
		s.tellExtended(ctx, seen, lease)
		return errs, nil
	}
	if ctx.Err() != nil {
		return errs, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return errs, s.journalError(err)
}

// keep waits until what was written is durable, or survives the death of the process. It is called without the lock.
func (s *Store) keep(ctx context.Context, durable bool) error {
	if durable {
		return s.journal.Sync(ctx)
	}
	return s.journal.Flush()
}

// extend writes the new ends down. sync says that a queue promises more than that.
func (s *Store) extend(tokens []Token, lease time.Duration) (errs []error, seen []observed, sync bool,
	err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.paused > 0 && !s.closed {
		s.landing.Wait()
	}
	if err := s.usable(); err != nil {
		return nil, nil, false, err
	}
	s.advance()
	events, errs, seen, sync := s.state.toExtend(tokens, lease)
	return errs, seen, sync, s.write(events)
}
