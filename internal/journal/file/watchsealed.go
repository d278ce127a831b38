package file

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

const (
	watchFiles   = 16 // sealed and cold segments looked at at a time: a look at one takes some microseconds
	restoreAgain = 10 * time.Second
)

// lookAtSealed looks at the next few of the segments that are only read from now on. One that was removed or replaced
// can still be read, by this process alone: it is written again.
func (w *watch) lookAtSealed() error {
	j := w.j
	j.segMu.RLock()
	segs, colds := j.segs, j.colds
	j.segMu.RUnlock()
	sealed := len(segs) - 1
	n := sealed + len(colds)
	for range min(n, watchFiles) {
		if w.next >= n {
			w.next = 0
		}
		var s *segment
		if w.next < sealed {
			s = segs[w.next]
		} else {
			s = &colds[w.next-sealed].segment
		}
		w.next++
		want, _, err := s.identify()
		if err != nil {
			continue // it was reclaimed
		}
		switch got, err := j.fs.Identify(s.name); {
		case err == nil && got == want:
		case err != nil && !missing(err):
			return fmt.Errorf("look at %s: %w", s.name, err)
		case j.has(s.name):
			w.lost(s)
		}
	}
	return nil
}

// lost tells of a segment whose name leads to it no longer, and has it written again. That takes a while, and the watch
// goes on meanwhile.
func (w *watch) lost(s *segment) {
	j := w.j
	if id, err := j.fs.Identify(j.dir); err != nil || id != w.dir {
		return // the whole folder went: the next look tells
	}
	j.tell(s.name, []Damage{{File: s.name, What: "the segment was removed or replaced by somebody; this process " +
		"still reads it, and writes it again"}}, "")
	if w.restoring.Load() || time.Now().Before(w.again) {
		return
	}
	w.restoring.Store(true)
	j.owned.Go(func() {
		defer w.restoring.Store(false)
		err := w.restored(s)
		if err == nil || j.usable() != nil {
			return
		}
		w.again = time.Now().Add(restoreAgain)
		if w.said.isNew(err) {
			j.opts.Report(fmt.Errorf("write %s again: %w; it is tried again, and lost when this process ends before",
				s.name, err))
		}
	})
}

// restored writes a segment again, unless it goes anyway.
func (w *watch) restored(s *segment) error {
	j := w.j
	if !j.reserve(s) {
		return nil // it is being cleaned, and goes, or is looked at again
	}
	defer j.unreserve(s)
	if !j.has(s.name) {
		return nil
	}
	if err := w.restore(s); err != nil {
		return err
	}
	j.tell(s.name, nil, "")
	j.opts.Report(fmt.Errorf("%s was written again from the file that was still open: nothing is lost", s.name))
	return nil
}

// restore makes a file of the name of a segment with what the open one holds, and goes on with that.
func (w *watch) restore(s *segment) (err error) {
	j := w.j
	tmp := s.name + tmpSuffix
	if err := ignoreMissing(j.fs.Remove(tmp)); err != nil { // of an earlier try
		return err
	}
	f, err := j.fs.Create(tmp)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), ignoreMissing(j.fs.Remove(tmp)))
		}
	}()
	if err := f.Preallocate(s.size); err != nil {
		return err
	}
	buf := make([]byte, 1<<20)
	for at := int64(0); at < s.size; {
		if err := j.usable(); err != nil {
			return err
		}
		b := buf[:min(int64(len(buf)), s.size-at)]
		if err := s.readAt(b, at); err != nil {
			return err
		}
		if _, err := f.WriteAt(b, at); err != nil {
			return err
		}
		at += int64(len(b))
	}
	if err := f.Datasync(); err != nil {
		return err
	}
	if err := j.fs.Rename(tmp, s.name); err != nil {
		return err
	}
	s.use.Lock()
	old := s.f
	s.f = f
	s.use.Unlock()
	if err := errors.Join(old.Close(), j.lock.SyncDir()); err != nil {
		j.opts.Report(fmt.Errorf("write %s again: %w", s.name, err)) // it is there, and open
	}
	return nil
}

// reserve keeps everybody else from taking a segment away.
func (j *Journal) reserve(s *segment) bool {
	j.liveMu.Lock()
	defer j.liveMu.Unlock()
	if s.cleaning {
		return false
	}
	s.cleaning = true
	return true
}

func (j *Journal) unreserve(s *segment) {
	j.liveMu.Lock()
	s.cleaning = false
	j.liveMu.Unlock()
	j.wakeKeeper() // it may have been passed over
}

// lookAtCheckpoints notices that one was removed: then a start has the other alone, and what it needs is kept.
func (w *watch) lookAtCheckpoints() error {
	j := w.j
	for _, sc := range j.checkpoints.kept() {
		if sc.damaged {
			continue
		}
		switch _, err := j.fs.Identify(sc.name); {
		case err == nil:
		case !missing(err):
			return fmt.Errorf("look at %s: %w", sc.name, err)
		case j.has(sc.name):
			j.checkpoints.spoil(sc.number)
			j.tell(sc.name, []Damage{{File: sc.name, What: "the checkpoint was removed by somebody"}}, "")
		}
	}
	return nil
}

// lookAtNote makes the note of what was synced anew when its name leads to it no longer.
func (w *watch) lookAtNote() error {
	j := w.j
	k := &j.note
	if w.note == nil {
		return nil
	}
	name := filepath.Join(j.dir, noteName)
	switch id, err := j.fs.Identify(name); {
	case err == nil && id == w.note:
		return nil
	case err != nil && !missing(err):
		return fmt.Errorf("look at %s: %w", name, err)
	}
	var fresh noteKeeper
	if err := fresh.open(j.fs, name); err != nil {
		return fmt.Errorf("make %s again, which was removed: %w", name, err)
	}
	id, err := fresh.f.Identify()
	if err != nil {
		return errors.Join(err, fresh.close())
	}
	w.note = id
	j.syncMu.Lock()
	old := noteKeeper{f: k.f, mapped: k.mapped}
	k.f, k.mapped = fresh.f, fresh.mapped
	j.syncMu.Unlock()
	err = errors.Join(j.renewNote(), old.close())
	j.opts.Report(fmt.Errorf("%s was removed or replaced by somebody; it was written again", name))
	return err
}
