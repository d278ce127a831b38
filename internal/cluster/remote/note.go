package remote

import (
	"context"

	"github.com/hikyaku/hikyaku/internal/queue"
)

var (
	setNotes  = tellAll("SetNotes", queue.Shard.SetNotes)
	keepNotes = tellAll("KeepNotes", queue.Shard.KeepNotes)
	note      = find2("Note", queue.Shard.Note)
	noteSize  = find2("NoteSize", queue.Shard.NoteSize)
	notes     = ask1("Notes", queue.Shard.Notes)
	noteKeys  = ask2("NoteKeys", queue.Shard.NoteKeys)
)

// SetNotes implements queue.Noting.
func (s *Store) SetNotes(ctx context.Context, ns ...queue.Note) error {
	_, err := setNotes.of(ctx, s, ns)
	return err
}

// KeepNotes implements queue.Noting.
func (s *Store) KeepNotes(ctx context.Context, ns ...queue.Note) error {
	_, err := keepNotes.of(ctx, s, ns)
	return err
}

// Note implements queue.Noting.
func (s *Store) Note(ctx context.Context, room, key string) (value []byte, ok bool, err error) {
	f, err := note.of(ctx, s, pair(room, key))
	return f.Value, f.OK, err
}

// NoteSize implements queue.Noting.
func (s *Store) NoteSize(ctx context.Context, room, key string) (size int, ok bool, err error) {
	f, err := noteSize.of(ctx, s, pair(room, key))
	return f.Value, f.OK, err
}

// Notes implements queue.Noting.
func (s *Store) Notes(ctx context.Context, room string) ([]queue.Note, error) {
	return notes.of(ctx, s, room)
}

// NoteKeys implements queue.Noting.
func (s *Store) NoteKeys(ctx context.Context, room, prefix string) ([]string, error) {
	return noteKeys.of(ctx, s, pair(room, prefix))
}
