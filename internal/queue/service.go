package queue

import (
	"context"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Service is a store as everything above it sees it: it may be this process's own, or one that another machine has. So
// whatever has to ask takes a context, and can fail with ErrUnavailable; what is answered without asking, Resolve, does
// not. A Store is one: what it answers out of memory it answers whatever the context says.
type Service interface {
	Putting
	Taking
	Looking
	Defining
	Noting
	// Resolve returns the name that a name stands for, see Options.Namespaces. It asks nobody.
	Resolve(n Name) Name
}

// Putting puts messages into queues and topics.
type Putting interface {
	Put(ctx context.Context, n Name, msgs []message.Message) ([]PutResult, error)
	Publish(ctx context.Context, n Name, msgs []message.Message) ([]PutResult, error)
	PublishEach(ctx context.Context, n Name, msgs []message.Message) ([]PutResult, error)
	Commit(ctx context.Context, c Change) ([][]PutResult, []error, error)
	// Ready is nil when a put of a small message would be taken now.
	Ready(ctx context.Context) error
}

// Taking takes messages and says what became of them.
type Taking interface {
	Claim(ctx context.Context, r ClaimRequest) ([]Claim, error)
	Settle(ctx context.Context, ss []Settlement) ([]error, error)
	Extend(ctx context.Context, tokens []Token, lease time.Duration) ([]error, error)
	// NewOwner makes a holder of claims. It asks nobody.
	NewOwner(name string) Owner
	TokenOf(ctx context.Context, n Name, sequence uint64) (t Token, ok bool, err error)
	QueueOf(ctx context.Context, t Token) (n Name, ok bool, err error)
}

// Looking looks at what there is and changes nothing.
type Looking interface {
	Queues(ctx context.Context) ([]Name, error)
	Topics(ctx context.Context) ([]Name, error)
	Snapshots(ctx context.Context) ([]Snapshot, error)
	HasTopic(ctx context.Context, n Name) (bool, error)
	Stats(ctx context.Context, n Name) (Stats, error)
	TopicStats(ctx context.Context, n Name) (TopicStats, error)
	Definition(ctx context.Context, n Name) (d Definition, version uint64, err error)
	Parse(ctx context.Context, n Name, where string) (*condition.Expr, error)
	Idle(ctx context.Context, n Name, where *condition.Expr) (bool, error)
	First(ctx context.Context, from From) (p Peeked, ok bool, err error)
	Look(ctx context.Context, n Name, sequence uint64) (Peeked, error)
	Peek(ctx context.Context, n Name, r PeekRequest) ([]Peeked, error)
}

// Defining makes, alters and removes queues, topics and snapshots, and what is in them.
type Defining interface {
	CreateQueue(ctx context.Context, n Name, d Definition) (created bool, err error)
	AlterQueue(ctx context.Context, n Name, d Definition) error
	AlterColumns(ctx context.Context, n Name, d Definition, from []int, version uint64) error
	RenameQueue(ctx context.Context, from, to Name) error
	DeleteQueue(ctx context.Context, n Name) error
	CreateTopic(ctx context.Context, n Name, labels map[string]string) (created bool, err error)
	DeleteTopic(ctx context.Context, n Name) error
	// Noted makes definitions with notes, each in one group with them. It asks nobody.
	Noted(notes ...Note) Noted
	// Configured makes what the operator's own configuration defines, never refused for memory. It asks nobody.
	Configured() Definer
	TakeSnapshot(ctx context.Context, name, of Name, o SnapshotOptions) (Snapshot, error)
	DeleteSnapshot(ctx context.Context, name Name) error
	Seek(ctx context.Context, n Name, to SeekTo) (Sought, error)
	Purge(ctx context.Context, n Name) (int, error)
	Remove(ctx context.Context, n Name, sequences []uint64) (removed int, err error)
	Replay(ctx context.Context, n Name, r ReplayRequest) (Replayed, error)
}

// Noting keeps notes: small values by room and key.
type Noting interface {
	SetNotes(ctx context.Context, notes ...Note) error
	KeepNotes(ctx context.Context, notes ...Note) error
	Note(ctx context.Context, room, key string) (value []byte, ok bool, err error)
	NoteSize(ctx context.Context, room, key string) (size int, ok bool, err error)
	Notes(ctx context.Context, room string) ([]Note, error)
	NoteKeys(ctx context.Context, room, prefix string) ([]string, error)
}

// Shard is what makes a Service of several stores asks each of them for besides.
type Shard interface {
	Service
	Has(ctx context.Context, n Name) (bool, error)
	HasSnapshot(ctx context.Context, name Name) (bool, error)
	RenameNoted(ctx context.Context, from, to Name, notes ...Note) error
	RenameDeadLetters(ctx context.Context, from, to Name) error
	TookFrom(ctx context.Context, n Name, source string, offsets []uint64) (taken []uint64, next uint64, err error)
	NowCalled(ctx context.Context, n Name) (now Name, ok bool, err error)
}

var _ Shard = (*Store)(nil)
