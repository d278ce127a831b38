package file

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/hikyaku/hikyaku/internal/durable"
	"github.com/hikyaku/hikyaku/internal/journal"
)

// scrubTries is how often a small file is read that is being written each time.
const (
	scrubTries = 20
	scrubAgain = 10 * time.Millisecond
)

// manifests compares the two files of the manifest with the list in memory. One that is damaged is written again.
func (s *scrubber) manifests() error {
	j := s.j
	for range scrubTries {
		turn := j.turn()
		ms, err := readManifests(s.fs, j.dir)
		if err != nil || s.ctx.Err() != nil {
			return err
		}
		if j.turn() != turn { // it was written meanwhile
			if err := pause(s.ctx, scrubAgain); err != nil {
				return err
			}
			continue
		}
		var errs []error
		for i := range ms.slots {
			sl := &ms.slots[i]
			if what := sl.unlike(turn); what != "" {
				errs = append(errs, j.renewManifest(i, turn))
				j.tell(sl.name, []Damage{{File: sl.name, What: what}}, "the list is in memory, and was written again")
			}
			j.tell(sl.name, nil, "")
		}
		return errors.Join(errs...)
	}
	return nil // it changes all the time: what was damaged has been written over
}

// turn is that of the manifest in force. While one is written it waits.
func (j *Journal) turn() uint64 {
	j.manifestMu.Lock()
	defer j.manifestMu.Unlock()
	return j.manifest.turn
}

// unlike says what is wrong with a file of a manifest whose turn is known. A file that is gone is the watch's.
func (sl *manifestSlot) unlike(turn uint64) string {
	switch {
	case sl.missing:
		return ""
	case sl.m == nil:
		return sl.damage.What
	case sl.m.turn != turn && sl.m.turn+1 != turn:
		return fmt.Sprintf("it is of turn %d, but turn %d is in force: it is a copy from before", sl.m.turn, turn)
	}
	return ""
}

// renewManifest writes the manifest of a turn, which is in memory, over a damaged file, or makes one that is gone: the
// same again where that was in force, for the other one, which may be all that a crash would leave, is not touched
// then; else the next turn.
func (j *Journal) renewManifest(slot int, turn uint64) error {
	j.manifestMu.Lock()
	defer j.manifestMu.Unlock()
	if j.manifest.turn != turn || j.failed() != nil {
		return nil
	}
	if turn%manifestFiles != uint64(slot) {
		return j.changeManifest(func(*manifest) {})
	}
	err := j.lists.confirm(&j.manifest)
	if err != nil && !durable.Full(err) && !errors.Is(err, journal.ErrRefused) {
		return j.fail(err)
	}
	return err
}

// note reads what says how far the log is durable. It is small and written with every sync: what was written while it
// was read is read again.
func (s *scrubber) note() error {
	j := s.j
	k := &j.note
	name := filepath.Join(j.dir, noteName)
	for range scrubTries {
		noted, begun := journal.Position(k.noted.Load()), k.begun.Load()
		n, broken, err := readNote(j.fs, j.dir)
		if err != nil {
			return err
		}
		if k.done.Load() != begun || k.begun.Load() != begun {
			if err := pause(s.ctx, scrubAgain); err != nil {
				return err
			}
			continue
		}
		what := ""
		switch {
		case noted == 0:
		case broken != nil:
			what = broken.What
		case n.last < noted:
			what = fmt.Sprintf("it says that the group at position %d was synced, but %d was: it is a copy from before",
				n.last, noted)
		}
		if what != "" {
			j.tell(name, []Damage{{File: name, What: what}}, "it was written again")
			err = j.renewNote()
		}
		j.tell(name, nil, "")
		return err
	}
	return nil // it is written all the time: what was damaged has been written over
}

// renewNote writes the note that was written last to both of its places.
func (j *Journal) renewNote() error {
	j.syncMu.Lock()
	defer j.syncMu.Unlock()
	k := &j.note
	if k.f == nil || k.noted.Load() == 0 {
		return nil
	}
	for range notePlaces {
		if err := k.write(); err != nil {
			return fmt.Errorf("note what is synced: %w", errors.Join(err, k.close()))
		}
	}
	return nil
}
