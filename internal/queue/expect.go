package queue

import (
	"bytes"
	"fmt"
)

// asExpected tells whether notes are as a change expects them. One that is on its way to the journal is waited for: the
// plan's blocker says for which group. The lock is held, and stays so until the change is on its way itself.
func (s *Store) asExpected(pl *plan, notes []NoteIs) error {
	for _, n := range notes {
		if f := s.pending[pendingNote(n.Room, n.Key)]; f != nil {
			pl.blocker = f
			return errAgain
		}
	}
	for _, n := range notes {
		note, there := s.state.notes.Get(Note(n))
		have := note.Value
		switch {
		case !there && n.Value != nil:
			return fmt.Errorf("%w: note %s %q is not there", ErrChanged, n.Room, n.Key)
		case there && n.Value == nil:
			return fmt.Errorf("%w: note %s %q is there", ErrChanged, n.Room, n.Key)
		case !bytes.Equal(have, n.Value):
			return fmt.Errorf("%w: note %s %q has another value", ErrChanged, n.Room, n.Key)
		}
	}
	return nil
}

// pendingNote names a note among what is on its way to the journal. Two of one name would only wait for each other.
func pendingNote(room, key string) string { return "n" + room + "\x00" + key }
