package campaign_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// awayStore is a store that nobody can ask for what there is while it is gone: one that another machine has.
type awayStore struct {
	queue.Service
	gone                         atomic.Bool // for everything
	topics, conditions, messages atomic.Bool // the same, for those alone
}

func (s *awayStore) err(more ...*atomic.Bool) error {
	for _, gone := range append(more, &s.gone) {
		if gone.Load() {
			return queue.ErrUnavailable
		}
	}
	return nil
}

func (s *awayStore) Notes(ctx context.Context, room string) ([]queue.Note, error) {
	if err := s.err(); err != nil {
		return nil, err
	}
	return s.Service.Notes(ctx, room)
}

func (s *awayStore) HasTopic(ctx context.Context, n queue.Name) (bool, error) {
	if err := s.err(); err != nil {
		return false, err
	}
	return s.Service.HasTopic(ctx, n)
}

func (s *awayStore) TopicStats(ctx context.Context, n queue.Name) (queue.TopicStats, error) {
	if err := s.err(&s.topics); err != nil {
		return queue.TopicStats{}, err
	}
	return s.Service.TopicStats(ctx, n)
}

func (s *awayStore) Parse(ctx context.Context, n queue.Name, where string) (*condition.Expr, error) {
	if err := s.err(&s.conditions); err != nil {
		return nil, err
	}
	return s.Service.Parse(ctx, n, where)
}

func (s *awayStore) Idle(ctx context.Context, n queue.Name, where *condition.Expr) (bool, error) {
	if err := s.err(&s.messages); err != nil {
		return true, err
	}
	return s.Service.Idle(ctx, n, where)
}

// over opens a registry over a store, until the test ends.
func (r *rig) over(t *testing.T, store queue.Service) *campaign.Registry {
	t.Helper()
	reg, err := campaign.Open(t.Context(), store, r.clock.now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reg.Close() })
	return reg
}

func TestWhatCannotBeAskedIsUnavailable(t *testing.T) {
	r := open(t)
	store := &awayStore{Service: r.store}
	reg := r.over(t, store)
	store.gone.Store(true)
	if _, _, err := reg.Start(t.Context(), campaign.Order{Queue: news}); !errors.Is(err, queue.ErrUnavailable) {
		t.Errorf("a start: %v", err)
	}
	if _, err := campaign.Open(t.Context(), store, nil); !errors.Is(err, queue.ErrUnavailable) {
		t.Errorf("what is remembered cannot be read: %v", err)
	}
}

// TestACampaignWhoseQueuesCannotBeAskedIsNotOver, whatever of them is not known.
func TestACampaignWhoseQueuesCannotBeAskedIsNotOver(t *testing.T) {
	r := open(t)
	store := &awayStore{Service: r.store}
	reg := r.over(t, store)
	reg.Guard(outbox)
	topic := queue.Name{Namespace: "default", Name: "all"}
	reader := queue.Name{Namespace: "default", Name: "reader"}
	if _, err := r.store.CreateTopic(t.Context(), topic, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.CreateQueue(t.Context(), reader, queue.Definition{Topic: "all"}); err != nil {
		t.Fatal(err)
	}
	v, _, err := reg.Start(t.Context(), campaign.Order{Queue: topic})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reg.Cancel(t.Context(), v.ID); err != nil {
		t.Fatal(err)
	}
	ended := func() bool {
		r.clock.forward(time.Hour)
		reg.Beat(t.Context())
		now, err := reg.Show(v.ID)
		if err != nil {
			t.Fatal(err)
		}
		return now.Ended != nil
	}
	for what, gone := range map[string]*atomic.Bool{"all": &store.gone, "topics": &store.topics,
		"conditions": &store.conditions, "messages": &store.messages} {
		gone.Store(true)
		if ended() {
			t.Fatalf("its message waits, of %s nobody knows, and it has ended", what)
		}
		gone.Store(false)
	}
	if _, err := r.store.Purge(t.Context(), reader); err != nil {
		t.Fatal(err)
	}
	if !ended() {
		t.Error("nothing is left of it, and it has not ended")
	}
}
