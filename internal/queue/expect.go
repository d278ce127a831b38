package queue

import (
	"bytes"
	"context"
	"fmt"
)

// asExpected tells whether notes are as a change expects them. One that is on its way to the journal has to be waited
// for: errAgain, and its group. The lock is held, and stays so until the change is on its way itself.
func (s *Store) asExpected(notes []NoteIs) (blocker *flight, err error) {
	for _, n := range notes {
		if f := s.pending[pendingNote(n.Room, n.Key)]; f != nil {
			return f, errAgain
		}
	}
	for _, n := range notes {
		note, there := s.state.notes.Get(Note(n))
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

// awaitNotes waits until none of some notes is on its way to the journal, or ctx ends.
func (s *Store) awaitNotes(ctx context.Context, notes []NoteIs) error {
	for i := 0; i < len(notes); {
		s.mu.Lock()
		f := s.pending[pendingNote(notes[i].Room, notes[i].Key)]
		s.mu.Unlock()
		if f == nil {
			i++
		} else if err := f.wait(ctx); err != nil && ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// pendingNote names a note among what is on its way to the journal. Two of one name would only wait for each other.
func pendingNote(room, key string) string { return "n" + room + "\x00" + key }
