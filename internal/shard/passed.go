package shard

import (
	"context"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// What a slot passes on to the store that has it now.

var _ store = (*slot)(nil)

// Put implements queue.Shard.
func (l *slot) Put(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none []queue.PutResult
		return none, err
	}
	got, err := s.Put(ctx, n, msgs)
	return got, l.told(s, err)
}

// Publish implements queue.Shard.
func (l *slot) Publish(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none []queue.PutResult
		return none, err
	}
	got, err := s.Publish(ctx, n, msgs)
	return got, l.told(s, err)
}

// PublishEach implements queue.Shard.
func (l *slot) PublishEach(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none []queue.PutResult
		return none, err
	}
	got, err := s.PublishEach(ctx, n, msgs)
	return got, l.told(s, err)
}

// Settle implements queue.Shard.
func (l *slot) Settle(ctx context.Context, ss []queue.Settlement) ([]error, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none []error
		return none, err
	}
	got, err := s.Settle(ctx, ss)
	return got, l.told(s, err)
}

// Extend implements queue.Shard.
func (l *slot) Extend(ctx context.Context, tokens []queue.Token, lease time.Duration) ([]error, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none []error
		return none, err
	}
	got, err := s.Extend(ctx, tokens, lease)
	return got, l.told(s, err)
}

// Queues implements queue.Shard.
func (l *slot) Queues(ctx context.Context) ([]queue.Name, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none []queue.Name
		return none, err
	}
	got, err := s.Queues(ctx)
	return got, l.told(s, err)
}

// Topics implements queue.Shard.
func (l *slot) Topics(ctx context.Context) ([]queue.Name, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none []queue.Name
		return none, err
	}
	got, err := s.Topics(ctx)
	return got, l.told(s, err)
}

// Snapshots implements queue.Shard.
func (l *slot) Snapshots(ctx context.Context) ([]queue.Snapshot, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none []queue.Snapshot
		return none, err
	}
	got, err := s.Snapshots(ctx)
	return got, l.told(s, err)
}

// HasTopic implements queue.Shard.
func (l *slot) HasTopic(ctx context.Context, n queue.Name) (bool, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none bool
		return none, err
	}
	got, err := s.HasTopic(ctx, n)
	return got, l.told(s, err)
}

// Stats implements queue.Shard.
func (l *slot) Stats(ctx context.Context, n queue.Name) (queue.Stats, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none queue.Stats
		return none, err
	}
	got, err := s.Stats(ctx, n)
	return got, l.told(s, err)
}

// TopicStats implements queue.Shard.
func (l *slot) TopicStats(ctx context.Context, n queue.Name) (queue.TopicStats, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none queue.TopicStats
		return none, err
	}
	got, err := s.TopicStats(ctx, n)
	return got, l.told(s, err)
}

// Parse implements queue.Shard.
func (l *slot) Parse(ctx context.Context, n queue.Name, where string) (*condition.Expr, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none *condition.Expr
		return none, err
	}
	got, err := s.Parse(ctx, n, where)
	return got, l.told(s, err)
}

// Idle implements queue.Shard.
func (l *slot) Idle(ctx context.Context, n queue.Name, where *condition.Expr) (bool, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none bool
		return none, err
	}
	got, err := s.Idle(ctx, n, where)
	return got, l.told(s, err)
}

// Look implements queue.Shard.
func (l *slot) Look(ctx context.Context, n queue.Name, sequence uint64) (queue.Peeked, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none queue.Peeked
		return none, err
	}
	got, err := s.Look(ctx, n, sequence)
	return got, l.told(s, err)
}

// Peek implements queue.Shard.
func (l *slot) Peek(ctx context.Context, n queue.Name, q queue.PeekRequest) ([]queue.Peeked, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none []queue.Peeked
		return none, err
	}
	got, err := s.Peek(ctx, n, q)
	return got, l.told(s, err)
}

// CreateQueue implements queue.Shard.
func (l *slot) CreateQueue(ctx context.Context, n queue.Name, d queue.Definition) (bool, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none bool
		return none, err
	}
	got, err := s.CreateQueue(ctx, n, d)
	return got, l.told(s, err)
}

// CreateTopic implements queue.Shard.
func (l *slot) CreateTopic(ctx context.Context, n queue.Name, labels map[string]string) (bool, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none bool
		return none, err
	}
	got, err := s.CreateTopic(ctx, n, labels)
	return got, l.told(s, err)
}

// TakeSnapshot implements queue.Shard.
func (l *slot) TakeSnapshot(ctx context.Context, name, of queue.Name, o queue.SnapshotOptions) (
	queue.Snapshot, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none queue.Snapshot
		return none, err
	}
	got, err := s.TakeSnapshot(ctx, name, of, o)
	return got, l.told(s, err)
}

// Seek implements queue.Shard.
func (l *slot) Seek(ctx context.Context, n queue.Name, to queue.SeekTo) (queue.Sought, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none queue.Sought
		return none, err
	}
	got, err := s.Seek(ctx, n, to)
	return got, l.told(s, err)
}

// Purge implements queue.Shard.
func (l *slot) Purge(ctx context.Context, n queue.Name) (int, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none int
		return none, err
	}
	got, err := s.Purge(ctx, n)
	return got, l.told(s, err)
}

// Remove implements queue.Shard.
func (l *slot) Remove(ctx context.Context, n queue.Name, sequences []uint64) (int, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none int
		return none, err
	}
	got, err := s.Remove(ctx, n, sequences)
	return got, l.told(s, err)
}

// Replay implements queue.Shard.
func (l *slot) Replay(ctx context.Context, n queue.Name, q queue.ReplayRequest) (queue.Replayed, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none queue.Replayed
		return none, err
	}
	got, err := s.Replay(ctx, n, q)
	return got, l.told(s, err)
}

// Notes implements queue.Shard.
func (l *slot) Notes(ctx context.Context, room string) ([]queue.Note, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none []queue.Note
		return none, err
	}
	got, err := s.Notes(ctx, room)
	return got, l.told(s, err)
}

// NoteKeys implements queue.Shard.
func (l *slot) NoteKeys(ctx context.Context, room, prefix string) ([]string, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none []string
		return none, err
	}
	got, err := s.NoteKeys(ctx, room, prefix)
	return got, l.told(s, err)
}

// Has implements queue.Shard.
func (l *slot) Has(ctx context.Context, n queue.Name) (bool, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none bool
		return none, err
	}
	got, err := s.Has(ctx, n)
	return got, l.told(s, err)
}

// HasSnapshot implements queue.Shard.
func (l *slot) HasSnapshot(ctx context.Context, name queue.Name) (bool, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none bool
		return none, err
	}
	got, err := s.HasSnapshot(ctx, name)
	return got, l.told(s, err)
}
