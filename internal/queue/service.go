package queue

import (
	"context"
	"time"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Service is a store as everything above it sees it: it may be this process's own, or one that another machine has. So
// whatever has to ask takes a context, and can fail with ErrUnavailable; what is answered without asking, Resolve, does
// not. Store.Service is the one of a Store.
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
	// Noted makes definitions that have notes. It asks nobody.
	Noted(notes ...Note) Noted
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

// Service is the store as a Service: it answers out of memory, whatever the context says, and does not fail.
func (s *Store) Service() Local { return Local{s} }

// Local is a Store whose answers out of memory have the form of those that another machine gives.
type Local struct{ *Store }

func (l Local) Ready(context.Context) error { return l.Store.Ready() }

func (l Local) TokenOf(_ context.Context, n Name, sequence uint64) (Token, bool, error) {
	t, ok := l.Store.TokenOf(n, sequence)
	return t, ok, nil
}

func (l Local) QueueOf(_ context.Context, t Token) (Name, bool, error) {
	n, ok := l.Store.QueueOf(t)
	return n, ok, nil
}

func (l Local) Queues(context.Context) ([]Name, error)        { return l.Store.Queues(), nil }
func (l Local) Topics(context.Context) ([]Name, error)        { return l.Store.Topics(), nil }
func (l Local) Snapshots(context.Context) ([]Snapshot, error) { return l.Store.Snapshots(), nil }

func (l Local) HasTopic(_ context.Context, n Name) (bool, error) { return l.Store.HasTopic(n), nil }
func (l Local) Stats(_ context.Context, n Name) (Stats, error)   { return l.Store.Stats(n) }
func (l Local) TopicStats(_ context.Context, n Name) (TopicStats, error) {
	return l.Store.TopicStats(n)
}

func (l Local) Definition(_ context.Context, n Name) (Definition, uint64, error) {
	return l.Store.Definition(n)
}

func (l Local) Parse(_ context.Context, n Name, where string) (*condition.Expr, error) {
	return l.Store.Parse(n, where)
}

func (l Local) Idle(ctx context.Context, n Name, where *condition.Expr) (bool, error) {
	return l.Store.Idle(ctx, n, where), nil
}

func (l Local) Note(_ context.Context, room, key string) ([]byte, bool, error) {
	value, ok := l.Store.Note(room, key)
	return value, ok, nil
}

func (l Local) NoteSize(_ context.Context, room, key string) (int, bool, error) {
	size, ok := l.Store.NoteSize(room, key)
	return size, ok, nil
}

func (l Local) Notes(_ context.Context, room string) ([]Note, error) { return l.Store.Notes(room), nil }

func (l Local) NoteKeys(_ context.Context, room, prefix string) ([]string, error) {
	return l.Store.NoteKeys(room, prefix), nil
}
