package queue

import (
	"bytes"
	"fmt"
)

// asExpected tells whether notes are as a change expects them. One that is on its way to the journal has to be waited
// for: errAgain, and its group. The lock is held, and stays so until the change is on its way itself.
func (s *state) asExpected(notes []NoteIs) (blocker *draft, err error) {
	for _, n := range notes {
		if d := s.pending[pendingNote(n.Room, n.Key)]; d != nil {
			return d, errAgain
		}
	}
	for _, n := range notes {
		note, there := s.notes.Get(Note(n))
		have := note.Value
		switch {
		case !there && n.Value != nil:
			return nil, fmt.Errorf("%w: note %s %q is not there", ErrChanged, n.Room, n.Key)
		case there && n.Value == nil:
			return nil, fmt.Errorf("%w: note %s %q is there", ErrChanged, n.Room, n.Key)
		case !bytes.Equal(have, n.Value):
			return nil, fmt.Errorf("%w: note %s %q has another value", ErrChanged, n.Room, n.Key)
		}
	}
	return nil, nil
}

// pendingNote names a note among what is on its way to the journal. Two of one name would only wait for each other.
func pendingNote(room, key string) string { return "n" + room + "\x00" + key }
