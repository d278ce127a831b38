package queue

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/btree"
)

// noteResident is about what a note takes in memory beside its texts: its place in the list, and what allocating them
// rounds up. noteStep is what its texts are rounded up to: a number or a time that is written again in a few more
// digits is no larger.
const noteResident, noteStep = 128, 64

func lessNote(a, b Note) bool { return a.Room < b.Room || a.Room == b.Room && a.Key < b.Key }

// resident is about what the note takes in memory.
func (n *Note) resident() int64 {
	texts := int64(len(n.Room) + len(n.Key) + len(n.Value))
	return noteResident + (texts+noteStep-1)/noteStep*noteStep
}

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

func checkNotes(notes []Note) error {
	for _, n := range notes {
		if len(n.Value) > MaxNoteBytes {
			return fmt.Errorf("%w: note %s %q has %d bytes, the limit is %d", ErrTooLarge, n.Room, n.Key,
				len(n.Value), MaxNoteBytes)
		}
	}
	return nil
}

// notes counts what the notes of a change will take in memory, and refuses them when there is no room for it. What
// settles messages as well is never refused: it makes room.
func (p *plan) notes(c *Change) error {
	var grown int64
	for i := range c.Notes {
		n := &c.Notes[i]
		if n.Value != nil {
			grown += n.resident()
		}
		if before, there := p.s.notes.Get(*n); there {
			grown -= before.resident()
		}
	}
	if grown <= 0 {
		return nil
	}
	if !c.Needed && len(c.Settles) == 0 && !p.remembers(grown) {
		p.s.forgetDue(forgetAtOnce)
		if err := p.fitsMemory(grown); err != nil {
			return err
		}
	}
	p.hold(nil).resident += grown
	p.s.reservedResident += grown
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

func notedOf(n Note) *noted {
	return &noted{note: Note{n.Room, n.Key, bytes.Clone(n.Value)}, gone: n.Value == nil}
}

func (s *state) applyNoted(e *noted) {
	if !e.gone {
		s.setNote(e.note)
	} else if before, there := s.notes.Delete(e.note); there {
		s.resident -= before.resident()
	}
}

// setNote takes a note in, in place of the one of its key.
func (s *state) setNote(n Note) {
	s.resident += n.resident()
	if before, there := s.notes.Set(n); there {
		s.resident -= before.resident()
	}
}
