package queue

import (
	"bytes"
	"fmt"
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
