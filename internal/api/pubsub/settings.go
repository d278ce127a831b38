package pubsub

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// room is under which the door's notes are kept. Keys are KIND/NAMESPACE/ID, values the generated types with what the
// store does not know.
const room = "api/pubsub"

// noteKey is the key of what is remembered of a resource.
func noteKey(kind string, n queue.Name) string { return kind + "/" + n.String() }

// recall reads a note into m, and returns what is kept; a nil Value: there is none.
func (d *Server) recall(ctx context.Context, key string, m proto.Message) (queue.NoteIs, error) {
	is := queue.NoteIs{Room: room, Key: key}
	value, ok, err := d.store.Note(ctx, room, key)
	if err != nil || !ok {
		return is, err
	}
	if err := proto.Unmarshal(value, m); err != nil {
		return is, fmt.Errorf("the note %s of %s cannot be read: %w", key, room, err)
	}
	is.Value = append([]byte{}, value...)
	return is, nil
}

// setter keeps notes while another is as it was read, alone (Server.commit) or together with what it defines
// (Service.Noted). When another process was faster, the error is queue.ErrChanged.
type setter func(ctx context.Context, is queue.NoteIs, notes ...queue.Note) error

// commit is the setter of notes alone. They are refused when there is no memory for what they take more.
func (d *Server) commit(ctx context.Context, is queue.NoteIs, notes ...queue.Note) error {
	_, _, err := d.store.Commit(ctx, queue.Change{If: []queue.NoteIs{is}, Notes: notes})
	return err
}

// remember keeps a note durably in place of the one that is there.
func (d *Server) remember(ctx context.Context, is queue.NoteIs, set setter, m proto.Message) error {
	value, err := proto.Marshal(m)
	if err != nil {
		return fmt.Errorf("note %s: %w", is.Key, err)
	}
	return d.note(ctx, is, set, queue.Note{Room: room, Key: is.Key, Value: value})
}

// note keeps notes, or forgets them.
func (d *Server) note(ctx context.Context, is queue.NoteIs, set setter, notes ...queue.Note) error {
	for _, n := range notes {
		if len(n.Value) > queue.MaxNoteBytes {
			return invalid(n.Key, "its settings take %d bytes, %d at most", len(n.Value), queue.MaxNoteBytes)
		}
	}
	err := set(ctx, is, notes...)
	d.changes.Add(1) // also after an error: the notes may have been kept, or are others
	return err
}

// kept are those of some notes that there are.
func (d *Server) kept(ctx context.Context, keys ...string) ([]queue.NoteIs, error) {
	var kept []queue.NoteIs
	for _, key := range keys {
		value, ok, err := d.store.Note(ctx, room, key)
		if err != nil {
			return nil, err
		}
		if ok {
			kept = append(kept, queue.NoteIs{Room: room, Key: key, Value: append([]byte{}, value...)})
		}
	}
	return kept, nil
}

// forget removes notes of what was deleted since they were read. One that is another by now stays: it is of what was
// made anew, or tidy sees to it.
func (d *Server) forget(ctx context.Context, kept []queue.NoteIs) error {
	for _, is := range kept {
		err := d.note(ctx, is, d.commit, queue.Note{Room: room, Key: is.Key})
		if err != nil && !errors.Is(err, queue.ErrChanged) {
			return err
		}
	}
	return nil
}

// anew does what reads notes and changes them, until no other process was faster.
func anew[T any](how func() (T, error)) (T, error) {
	for {
		made, err := how()
		if !errors.Is(err, queue.ErrChanged) {
			return made, err
		}
	}
}
