package pubsub

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// room is under which the door's notes are kept. Keys are KIND/NAMESPACE/ID, values the generated types with what the
// store does not know.
const room = "api/pubsub"

// noteKey is the key of what is remembered of a resource.
func noteKey(kind string, n queue.Name) string { return kind + "/" + n.String() }

// recall reads a note into m and tells whether there is one.
func (d *Server) recall(ctx context.Context, key string, m proto.Message) (bool, error) {
	value, ok, err := d.store.Note(ctx, room, key)
	if err != nil || !ok {
		return false, err
	}
	if err := proto.Unmarshal(value, m); err != nil {
		return false, fmt.Errorf("the note %s of %s cannot be read: %w", key, room, err)
	}
	return true, nil
}

// remember keeps a note durably.
func (d *Server) remember(ctx context.Context, key string, m proto.Message) error {
	return d.rememberBy(ctx, d.store.SetNotes, key, m)
}

// rememberBy keeps a note as set keeps it.
func (d *Server) rememberBy(ctx context.Context, set func(context.Context, ...queue.Note) error, key string,
	m proto.Message) error {
	value, err := proto.Marshal(m)
	if err != nil {
		return fmt.Errorf("note %s: %w", key, err)
	}
	return d.noteBy(ctx, set, queue.Note{Room: room, Key: key, Value: value})
}

// forget removes notes.
func (d *Server) forget(ctx context.Context, keys ...string) error {
	notes := make([]queue.Note, 0, len(keys))
	for _, key := range keys {
		if _, ok, err := d.store.NoteSize(ctx, room, key); err != nil {
			return err
		} else if ok {
			notes = append(notes, queue.Note{Room: room, Key: key})
		}
	}
	if len(notes) == 0 {
		return nil
	}
	return d.note(ctx, notes...)
}

// note keeps notes, or forgets them. It is refused when there is no memory for what they take more.
func (d *Server) note(ctx context.Context, notes ...queue.Note) error {
	return d.noteBy(ctx, d.store.SetNotes, notes...)
}

func (d *Server) noteBy(ctx context.Context, set func(context.Context, ...queue.Note) error,
	notes ...queue.Note) error {
	for _, n := range notes {
		if len(n.Value) > queue.MaxNoteBytes {
			return invalid(n.Key, "its settings take %d bytes, %d at most", len(n.Value), queue.MaxNoteBytes)
		}
	}
	err := set(ctx, notes...)
	d.changes.Add(1) // also after an error: the notes may have been kept
	return err
}
