package queue

import (
	"context"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// extendAtOnce bounds the claims that one call extends.
const extendAtOnce = 1000

// startKeeper starts the goroutine that extends leases. It outlives Run: what is under way then is still being
// delivered.
func (s *Source) startKeeper(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		s.keepLeases(ctx)
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keeper, s.kept = cancel, kept
}

func (s *Source) stopKeeper() {
	s.mu.Lock()
	cancel, kept := s.keeper, s.kept
	s.mu.Unlock()
	if cancel != nil {
		cancel()
		<-kept
	}
}

// keepLeases extends the leases of messages under way before they end: each is extended when less than two thirds of it
// are left.
func (s *Source) keepLeases(ctx context.Context) {
	tick := time.NewTicker(s.lease / 6)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for some := range slices.Chunk(s.ending(time.Now().Add(s.lease*2/3)), extendAtOnce) {
			s.extend(ctx, some)
		}
	}
}

// ending lists the claims under way whose lease ends before an instant.
func (s *Source) ending(before time.Time) []queue.Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	var tokens []queue.Token
	for t, deadline := range s.held {
		if !deadline.IsZero() && deadline.Before(before) {
			tokens = append(tokens, t)
		}
	}
	return tokens
}

// extend extends leases. A claim that is over is forgotten: its settlement will be told that it is stale. Any other
// failure is tried again with the next tick, of which a lease has several left.
func (s *Source) extend(ctx context.Context, tokens []queue.Token) {
	now := time.Now()
	errs, err := s.store.Extend(ctx, tokens, s.lease)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, t := range tokens {
		if _, under := s.held[t]; !under {
			continue // settled meanwhile
		}
		if errs[i] != nil {
			s.held[t] = time.Time{}
			continue
		}
		s.held[t] = now.Add(s.lease)
	}
}
