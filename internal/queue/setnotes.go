package queue

import (
	"context"
	"slices"
	"strings"

	"github.com/tidwall/btree"
)

// SetNotes keeps notes durably. A note with a nil Value is forgotten. Notes count in Limits.Memory: what would take
// more than there is room for is refused, ErrQueueFull, and nothing is kept. What takes no more than the notes that it
// replaces, and what only forgets, always passes.
func (s *Store) SetNotes(ctx context.Context, notes ...Note) error {
	_, _, err := s.Commit(ctx, Change{Notes: notes})
	return err
}

// KeepNotes is SetNotes that is never refused for memory; the notes count there all the same. It is for what the work
// on messages has to note: how far a source, a task or a campaign is, what became of a message. Were that refused when
// memory is full, the messages that fill it could not be settled, and it would stay full.
func (s *Store) KeepNotes(ctx context.Context, notes ...Note) error {
	_, _, err := s.Commit(ctx, Change{Notes: notes, Needed: true})
	return err
}

// Note returns what a room remembers under a key.
func (s *Store) Note(_ context.Context, room, key string) (value []byte, ok bool, err error) {
	s.mu.Lock()
	n, ok := s.state.notes.Get(Note{Room: room, Key: key})
	err = s.sound()
	s.mu.Unlock()
	return slices.Clone(n.Value), ok, err
}

// NoteSize returns how many bytes a room remembers under a key.
func (s *Store) NoteSize(_ context.Context, room, key string) (size int, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.state.notes.Get(Note{Room: room, Key: key})
	return len(n.Value), ok, s.sound()
}

// Notes returns everything a room remembers, by key.
func (s *Store) Notes(_ context.Context, room string) ([]Note, error) {
	var ns []Note
	err := s.notesFrom(room, "", func(n Note) { ns = append(ns, Note{room, n.Key, slices.Clone(n.Value)}) })
	return ns, err
}

// NoteKeys returns the keys that begin with prefix, in their order, of what a room remembers.
func (s *Store) NoteKeys(_ context.Context, room, prefix string) ([]string, error) {
	var keys []string
	err := s.notesFrom(room, prefix, func(n Note) { keys = append(keys, n.Key) })
	return keys, err
}

// notesFrom calls f for the notes of a room whose keys begin with prefix.
func (s *Store) notesFrom(room, prefix string, f func(Note)) error {
	notes, err := listing(s, func(st *state) *btree.BTreeG[Note] { return st.notes })
	if err != nil {
		return err
	}
	notes.Ascend(Note{Room: room, Key: prefix}, func(n Note) bool {
		if n.Room != room || !strings.HasPrefix(n.Key, prefix) {
			return false
		}
		f(n)
		return true
	})
	return nil
}

// addNotes adds the notes of a definition to its group. It counts what they take, as plan.notes does. The lock is held.
func (s *Store) addNotes(f *flight, notes []Note) error {
	f.plan = plan{s: s.state}
	if err := f.plan.notes(&Change{Notes: notes}); err != nil {
		return err
	}
	f.addNotes(notes)
	return nil
}

// awaitNotes waits until none of some notes is on its way to the journal, or ctx ends.
func (s *Store) awaitNotes(ctx context.Context, notes []NoteIs) error {
	for i := 0; i < len(notes); {
		s.mu.Lock()
		d := s.state.pending[pendingNote(notes[i].Room, notes[i].Key)]
		s.mu.Unlock()
		if d == nil {
			i++
		} else if err := await(ctx, d); err != nil {
			return err
		}
	}
	return nil
}
