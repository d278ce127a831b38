package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// shardsAway opens the journals of single shards again while the others serve, and knows which are lost. Its methods
// may be called from any goroutine.
type shardsAway struct {
	mu       sync.Mutex
	journals []journal.Journal // by shard, as they are open now
	again    []reopening       // by shard; each is used by one goroutine
	lost     []error
	failed   chan struct{} // closed when one is lost
}

// reopen opens the journal of a shard again, as shard.Options says.
func (a *shardsAway) reopen(ctx context.Context, shard int, j journal.Journal, why error) (journal.Journal, error) {
	next, err := a.again[shard].all(ctx, []journal.Journal{j}, why)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.journals[shard] = next[0]
	return next[0], nil
}

// lose notes that a shard does not come back.
func (a *shardsAway) lose(shard int, why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lost = append(a.lost, fmt.Errorf("shard %d: %w", shard, why)); len(a.lost) == 1 {
		close(a.failed)
	}
}

func (a *shardsAway) why() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return errors.Join(a.lost...)
}

// opened are the journals that are open now, by shard.
func (s *stores) opened() []journal.Journal {
	if s.shards == nil {
		return s.journals
	}
	s.shards.mu.Lock()
	defer s.shards.mu.Unlock()
	return slices.Clone(s.shards.journals)
}

// sayOfShard logs that a shard is away, or back.
func sayOfShard(log *slog.Logger, durability string, shard int, why error) {
	if why == nil {
		log.Info("the shard was opened again, and serves", "shard", shard)
		return
	}
	log.Warn("the journal of a shard has failed, "+kept(durability)+", and it is opened again; the other shards serve",
		"shard", shard, "error", why)
}
