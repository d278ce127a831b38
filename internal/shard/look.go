package shard

import (
	"cmp"
	"context"
	"slices"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Queues lists the queues of all shards by name.
func (r *Router) Queues(ctx context.Context) ([]queue.Name, error) {
	names, err := gather(r, func(s store) ([]queue.Name, error) { return s.Queues(ctx) })
	names = slices.DeleteFunc(names, reserved)
	slices.SortFunc(names, compareNames)
	return names, err
}

// Topics lists the topics of all shards by name.
func (r *Router) Topics(ctx context.Context) ([]queue.Name, error) {
	names, err := gather(r, func(s store) ([]queue.Name, error) { return s.Topics(ctx) })
	slices.SortFunc(names, compareNames)
	return names, err
}

// Snapshots lists the snapshots of all shards by name.
func (r *Router) Snapshots(ctx context.Context) ([]queue.Snapshot, error) {
	all, err := gather(r, func(s store) ([]queue.Snapshot, error) { return s.Snapshots(ctx) })
	slices.SortFunc(all, func(a, b queue.Snapshot) int { return compareNames(a.Name, b.Name) })
	return all, err
}

// gather asks every shard. An error leaves nothing.
func gather[T any](r *Router, ask func(store) ([]T, error)) (all []T, err error) {
	for _, s := range r.stores {
		some, err := ask(s)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func compareNames(a, b queue.Name) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// HasTopic implements queue.Service.
func (r *Router) HasTopic(ctx context.Context, n queue.Name) (bool, error) {
	return r.topicOf(n).HasTopic(ctx, n)
}

// TopicStats implements queue.Service.
func (r *Router) TopicStats(ctx context.Context, n queue.Name) (queue.TopicStats, error) {
	return r.topicOf(n).TopicStats(ctx, n)
}

// Stats implements queue.Service.
func (r *Router) Stats(ctx context.Context, n queue.Name) (queue.Stats, error) {
	shard, s, err := r.of(n)
	if err != nil {
		return queue.Stats{}, err
	}
	st, err := s.Stats(ctx, n)
	st.ID = r.numbers.whole(shard, st.ID)
	return st, err
}

// Definition implements queue.Service.
func (r *Router) Definition(ctx context.Context, n queue.Name) (d queue.Definition, version uint64, err error) {
	_, s, err := r.of(n)
	if err != nil {
		return d, 0, err
	}
	return s.Definition(ctx, n)
}

// Parse implements queue.Service.
func (r *Router) Parse(ctx context.Context, n queue.Name, where string) (*condition.Expr, error) {
	_, s, err := r.of(n)
	if err != nil {
		return nil, err
	}
	return s.Parse(ctx, n, where)
}

// Idle implements queue.Service.
func (r *Router) Idle(ctx context.Context, n queue.Name, where *condition.Expr) (bool, error) {
	_, s, err := r.of(n)
	if err != nil {
		return false, err
	}
	return s.Idle(ctx, n, where)
}

// First implements queue.Service.
func (r *Router) First(ctx context.Context, from queue.From) (p queue.Peeked, ok bool, err error) {
	_, s, err := r.of(from.Queue)
	if err != nil {
		return p, false, err
	}
	return s.First(ctx, from)
}

// Look implements queue.Service.
func (r *Router) Look(ctx context.Context, n queue.Name, sequence uint64) (queue.Peeked, error) {
	_, s, err := r.of(n)
	if err != nil {
		return queue.Peeked{}, err
	}
	return s.Look(ctx, n, sequence)
}

// Peek implements queue.Service.
func (r *Router) Peek(ctx context.Context, n queue.Name, q queue.PeekRequest) ([]queue.Peeked, error) {
	_, s, err := r.of(n)
	if err != nil {
		return nil, err
	}
	return s.Peek(ctx, n, q)
}
