package remote

import (
	"context"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// terms say on which terms definitions are made: as the operator's, or with notes.
type terms struct {
	Configured bool
	Notes      []queue.Note
	If         []queue.NoteIs
}

// definer makes them at a store.
func (t *terms) definer(s queue.Shard) queue.Definer {
	switch {
	case t.Configured:
		return s.Configured()
	case t.If != nil:
		return s.Noted(t.Notes...).If(t.If...)
	case t.Notes != nil:
		return s.Noted(t.Notes...)
	}
	return s
}

type replayArgs struct {
	Name     queue.Name
	Where    where
	Max      int
	To       queue.Name
	Existing bool
	Home     bool
}

type columnsArgs struct {
	Name       queue.Name
	Definition queue.Definition
	From       []int
	Version    uint64
}

type renameArgs struct {
	From, To queue.Name
	Notes    []queue.Note
}

type tookFrom struct {
	Taken []uint64
	Next  uint64
}

var (
	createQueue = define("CreateQueue", func(ctx context.Context, s queue.Shard, a three[terms, queue.Name,
		queue.Definition], _ *exchange) (bool, error) {
		return a.One.definer(s).CreateQueue(ctx, a.Two, a.Three)
	})
	alterQueue = define("AlterQueue", func(ctx context.Context, s queue.Shard, a three[terms, queue.Name,
		queue.Definition], _ *exchange) (none, error) {
		return none{}, a.One.definer(s).AlterQueue(ctx, a.Two, a.Three)
	})
	createTopic = define("CreateTopic", func(ctx context.Context, s queue.Shard, a three[terms, queue.Name,
		map[string]string], _ *exchange) (bool, error) {
		return a.One.definer(s).CreateTopic(ctx, a.Two, a.Three)
	})
	alterColumns = define("AlterColumns", func(ctx context.Context, s queue.Shard, a columnsArgs, _ *exchange) (none,
		error) {
		return none{}, s.AlterColumns(ctx, a.Name, a.Definition, a.From, a.Version)
	})
	renameNoted = define("RenameNoted", func(ctx context.Context, s queue.Shard, a renameArgs, _ *exchange) (none,
		error) {
		return none{}, s.RenameNoted(ctx, a.From, a.To, a.Notes...)
	})
	renameDeadLetters = tell2("RenameDeadLetters", queue.Shard.RenameDeadLetters)
	deleteQueue       = tell1("DeleteQueue", queue.Shard.DeleteQueue)
	deleteTopic       = tell1("DeleteTopic", queue.Shard.DeleteTopic)
	takeSnapshot      = ask3("TakeSnapshot", queue.Shard.TakeSnapshot)
	deleteSnapshot    = tell1("DeleteSnapshot", queue.Shard.DeleteSnapshot)
	seek              = ask2("Seek", queue.Shard.Seek)
	purge             = ask1("Purge", queue.Shard.Purge)
	remove            = ask2("Remove", queue.Shard.Remove)
	replay            = define("Replay", func(ctx context.Context, s queue.Shard, a replayArgs, x *exchange) (
		r queue.Replayed, err error) {
		e, err := a.Where.parse()
		if err != nil {
			return r, err
		}
		return s.Replay(ctx, a.Name, queue.ReplayRequest{Where: e, Max: a.Max, To: a.To, Existing: a.Existing,
			Home: x.home(a.Home)})
	})
	took = define("TookFrom", func(ctx context.Context, s queue.Shard, a three[queue.Name, string, []uint64],
		_ *exchange) (t tookFrom, err error) {
		t.Taken, t.Next, err = s.TookFrom(ctx, a.One, a.Two, a.Three)
		return t, err
	})
)

// definer is a queue.Noted and a queue.Definer of a Store.
type definer struct {
	store *Store
	terms terms
}

// CreateQueue implements queue.Definer.
func (d definer) CreateQueue(ctx context.Context, n queue.Name, def queue.Definition) (created bool, err error) {
	return createQueue.of(ctx, d.store, triple(d.terms, n, def))
}

// AlterQueue implements queue.Definer.
func (d definer) AlterQueue(ctx context.Context, n queue.Name, def queue.Definition) error {
	_, err := alterQueue.of(ctx, d.store, triple(d.terms, n, def))
	return err
}

// CreateTopic implements queue.Definer.
func (d definer) CreateTopic(ctx context.Context, n queue.Name, labels map[string]string) (created bool, err error) {
	return createTopic.of(ctx, d.store, triple(d.terms, n, labels))
}

// If implements queue.Noted.
func (d definer) If(is ...queue.NoteIs) queue.Definer {
	d.terms.If = is
	return d
}

// Configured implements queue.Defining.
func (s *Store) Configured() queue.Definer { return definer{s, terms{Configured: true}} }

// Noted implements queue.Defining.
func (s *Store) Noted(notes ...queue.Note) queue.Noted { return definer{s, terms{Notes: notes}} }

// CreateQueue implements queue.Defining.
func (s *Store) CreateQueue(ctx context.Context, n queue.Name, d queue.Definition) (created bool, err error) {
	return definer{store: s}.CreateQueue(ctx, n, d)
}

// AlterQueue implements queue.Defining.
func (s *Store) AlterQueue(ctx context.Context, n queue.Name, d queue.Definition) error {
	return definer{store: s}.AlterQueue(ctx, n, d)
}

// CreateTopic implements queue.Defining.
func (s *Store) CreateTopic(ctx context.Context, n queue.Name, labels map[string]string) (created bool, err error) {
	return definer{store: s}.CreateTopic(ctx, n, labels)
}

// AlterColumns implements queue.Defining.
func (s *Store) AlterColumns(ctx context.Context, n queue.Name, d queue.Definition, from []int, version uint64) error {
	_, err := alterColumns.of(ctx, s, columnsArgs{n, d, from, version})
	return err
}

// RenameQueue implements queue.Defining.
func (s *Store) RenameQueue(ctx context.Context, from, to queue.Name) error {
	return s.RenameNoted(ctx, from, to)
}

// RenameNoted implements queue.Shard.
func (s *Store) RenameNoted(ctx context.Context, from, to queue.Name, notes ...queue.Note) error {
	_, err := renameNoted.of(ctx, s, renameArgs{from, to, notes})
	return err
}

// RenameDeadLetters implements queue.Shard.
func (s *Store) RenameDeadLetters(ctx context.Context, from, to queue.Name) error {
	_, err := renameDeadLetters.of(ctx, s, pair(from, to))
	return err
}

// DeleteQueue implements queue.Defining.
func (s *Store) DeleteQueue(ctx context.Context, n queue.Name) error {
	_, err := deleteQueue.of(ctx, s, n)
	return err
}

// DeleteTopic implements queue.Defining.
func (s *Store) DeleteTopic(ctx context.Context, n queue.Name) error {
	_, err := deleteTopic.of(ctx, s, n)
	return err
}

// TakeSnapshot implements queue.Defining.
func (s *Store) TakeSnapshot(ctx context.Context, name, of queue.Name, o queue.SnapshotOptions) (queue.Snapshot,
	error) {
	return takeSnapshot.of(ctx, s, triple(name, of, o))
}

// DeleteSnapshot implements queue.Defining.
func (s *Store) DeleteSnapshot(ctx context.Context, name queue.Name) error {
	_, err := deleteSnapshot.of(ctx, s, name)
	return err
}

// Seek implements queue.Defining.
func (s *Store) Seek(ctx context.Context, n queue.Name, to queue.SeekTo) (queue.Sought, error) {
	return seek.of(ctx, s, pair(n, to))
}

// Purge implements queue.Defining.
func (s *Store) Purge(ctx context.Context, n queue.Name) (int, error) { return purge.of(ctx, s, n) }

// Remove implements queue.Defining.
func (s *Store) Remove(ctx context.Context, n queue.Name, sequences []uint64) (removed int, err error) {
	return remove.of(ctx, s, pair(n, sequences))
}

// Replay implements queue.Defining.
func (s *Store) Replay(ctx context.Context, n queue.Name, r queue.ReplayRequest) (queue.Replayed, error) {
	return replay.ask(ctx, s, replayArgs{n, whereOf(r.Where), r.Max, r.To, r.Existing, r.Home != nil},
		asked{home: r.Home})
}

// TookFrom implements queue.Shard.
func (s *Store) TookFrom(ctx context.Context, n queue.Name, source string, offsets []uint64) (taken []uint64,
	next uint64, err error) {
	t, err := took.of(ctx, s, triple(n, source, offsets))
	return t.Taken, t.Next, err
}
