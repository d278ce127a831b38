package http

import (
	"context"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Store is what the door uses of a *queue.Store.
type Store interface {
	Resolve(n queue.Name) queue.Name
	CreateQueue(ctx context.Context, n queue.Name, d queue.Definition) (bool, error)
	AlterQueue(ctx context.Context, n queue.Name, d queue.Definition) error
	DeleteQueue(ctx context.Context, n queue.Name) error
	CreateTopic(ctx context.Context, n queue.Name, labels map[string]string) (bool, error)
	DeleteTopic(ctx context.Context, n queue.Name) error
	Queues() []queue.Name
	Topics() []queue.Name
	Stats(n queue.Name) (queue.Stats, error)
	TopicStats(n queue.Name) (queue.TopicStats, error)
	HasTopic(n queue.Name) bool
	Parse(n queue.Name, where string) (*condition.Expr, error)

	Put(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error)
	Publish(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error)
	Claim(ctx context.Context, r queue.ClaimRequest) ([]queue.Claim, error)
	Settle(ctx context.Context, ss []queue.Settlement) ([]error, error)
	QueueOf(t queue.Token) (n queue.Name, ok bool)
	Extend(ctx context.Context, tokens []queue.Token, lease time.Duration) ([]error, error)
	Peek(ctx context.Context, n queue.Name, r queue.PeekRequest) ([]queue.Peeked, error)
	Purge(ctx context.Context, n queue.Name) (int, error)
	Replay(ctx context.Context, n queue.Name, r queue.ReplayRequest) (queue.Replayed, error)
	Seek(ctx context.Context, n queue.Name, to queue.SeekTo) (queue.Sought, error)
	TakeSnapshot(ctx context.Context, name, of queue.Name, o queue.SnapshotOptions) (queue.Snapshot, error)
	DeleteSnapshot(ctx context.Context, name queue.Name) error
	Snapshots() []queue.Snapshot

	Ready() error
	JournalStats() journal.Stats
	JournalInfo() journal.Info
}
