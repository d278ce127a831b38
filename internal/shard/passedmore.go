package shard

import (
	"context"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// Definition implements queue.Shard.
func (l *slot) Definition(ctx context.Context, n queue.Name) (queue.Definition, uint64, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none queue.Definition
		var nor uint64
		return none, nor, err
	}
	got, and, err := s.Definition(ctx, n)
	return got, and, l.told(s, err)
}

// Note implements queue.Shard.
func (l *slot) Note(ctx context.Context, room, key string) ([]byte, bool, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none []byte
		var nor bool
		return none, nor, err
	}
	got, and, err := s.Note(ctx, room, key)
	return got, and, l.told(s, err)
}

// NoteSize implements queue.Shard.
func (l *slot) NoteSize(ctx context.Context, room, key string) (int, bool, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none int
		var nor bool
		return none, nor, err
	}
	got, and, err := s.NoteSize(ctx, room, key)
	return got, and, l.told(s, err)
}

// TokenOf implements queue.Shard.
func (l *slot) TokenOf(ctx context.Context, n queue.Name, sequence uint64) (queue.Token, bool, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none queue.Token
		var nor bool
		return none, nor, err
	}
	got, and, err := s.TokenOf(ctx, n, sequence)
	return got, and, l.told(s, err)
}

// QueueOf implements queue.Shard.
func (l *slot) QueueOf(ctx context.Context, t queue.Token) (queue.Name, bool, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none queue.Name
		var nor bool
		return none, nor, err
	}
	got, and, err := s.QueueOf(ctx, t)
	return got, and, l.told(s, err)
}

// First implements queue.Shard.
func (l *slot) First(ctx context.Context, from queue.From) (queue.Peeked, bool, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none queue.Peeked
		var nor bool
		return none, nor, err
	}
	got, and, err := s.First(ctx, from)
	return got, and, l.told(s, err)
}

// NowCalled implements queue.Shard.
func (l *slot) NowCalled(ctx context.Context, n queue.Name) (queue.Name, bool, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none queue.Name
		var nor bool
		return none, nor, err
	}
	got, and, err := s.NowCalled(ctx, n)
	return got, and, l.told(s, err)
}

// TookFrom implements queue.Shard.
func (l *slot) TookFrom(ctx context.Context, n queue.Name, source string, offsets []uint64) (
	[]uint64, uint64, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none []uint64
		var nor uint64
		return none, nor, err
	}
	got, and, err := s.TookFrom(ctx, n, source, offsets)
	return got, and, l.told(s, err)
}

// Commit implements queue.Shard.
func (l *slot) Commit(ctx context.Context, c queue.Change) ([][]queue.PutResult, []error, error) {
	s, err := l.in(ctx)
	if err != nil {
		var none [][]queue.PutResult
		var nor []error
		return none, nor, err
	}
	got, and, err := s.Commit(ctx, c)
	return got, and, l.told(s, err)
}

// Ready implements queue.Shard.
func (l *slot) Ready(ctx context.Context) error {
	s, err := l.in(ctx)
	if err != nil {
		return err
	}
	return l.told(s, s.Ready(ctx))
}

// AlterQueue implements queue.Shard.
func (l *slot) AlterQueue(ctx context.Context, n queue.Name, d queue.Definition) error {
	s, err := l.in(ctx)
	if err != nil {
		return err
	}
	return l.told(s, s.AlterQueue(ctx, n, d))
}

// AlterColumns implements queue.Shard.
func (l *slot) AlterColumns(ctx context.Context, n queue.Name, d queue.Definition, from []int, version uint64) error {
	s, err := l.in(ctx)
	if err != nil {
		return err
	}
	return l.told(s, s.AlterColumns(ctx, n, d, from, version))
}

// RenameQueue implements queue.Shard.
func (l *slot) RenameQueue(ctx context.Context, from, to queue.Name) error {
	s, err := l.in(ctx)
	if err != nil {
		return err
	}
	return l.told(s, s.RenameQueue(ctx, from, to))
}

// DeleteQueue implements queue.Shard.
func (l *slot) DeleteQueue(ctx context.Context, n queue.Name) error {
	s, err := l.in(ctx)
	if err != nil {
		return err
	}
	return l.told(s, s.DeleteQueue(ctx, n))
}

// DeleteTopic implements queue.Shard.
func (l *slot) DeleteTopic(ctx context.Context, n queue.Name) error {
	s, err := l.in(ctx)
	if err != nil {
		return err
	}
	return l.told(s, s.DeleteTopic(ctx, n))
}

// DeleteSnapshot implements queue.Shard.
func (l *slot) DeleteSnapshot(ctx context.Context, name queue.Name) error {
	s, err := l.in(ctx)
	if err != nil {
		return err
	}
	return l.told(s, s.DeleteSnapshot(ctx, name))
}

// SetNotes implements queue.Shard.
func (l *slot) SetNotes(ctx context.Context, notes ...queue.Note) error {
	s, err := l.in(ctx)
	if err != nil {
		return err
	}
	return l.told(s, s.SetNotes(ctx, notes...))
}

// KeepNotes implements queue.Shard.
func (l *slot) KeepNotes(ctx context.Context, notes ...queue.Note) error {
	s, err := l.in(ctx)
	if err != nil {
		return err
	}
	return l.told(s, s.KeepNotes(ctx, notes...))
}

// RenameNoted implements queue.Shard.
func (l *slot) RenameNoted(ctx context.Context, from, to queue.Name, notes ...queue.Note) error {
	s, err := l.in(ctx)
	if err != nil {
		return err
	}
	return l.told(s, s.RenameNoted(ctx, from, to, notes...))
}

// RenameDeadLetters implements queue.Shard.
func (l *slot) RenameDeadLetters(ctx context.Context, from, to queue.Name) error {
	s, err := l.in(ctx)
	if err != nil {
		return err
	}
	return l.told(s, s.RenameDeadLetters(ctx, from, to))
}
