package file

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/durable"
)

// A change of the folder is noticed at the next look. Looks that fail for another reason have to do so that often in a
// row.
const (
	defaultWatch = 250 * time.Millisecond
	watchTries   = 4
)

// watch looks whether the names still lead to what the journal has open. What is written to files that no name leads to
// any more is lost when the process ends: nothing of it may be acknowledged.
type watch struct {
	j         *Journal
	dir       ID
	manifests [manifestFiles]bool // which of them have been there
	failures  int                 // looks that failed in a row

	note      ID          // of the note; nil: there is none
	next      int         // which of the sealed and cold segments is looked at next
	restoring atomic.Bool // one of them is being written again
	again     time.Time   // no other before: the last try failed
	said      complaint   // of that
}

var errFolder = errors.New("the folder is not the one that was opened")

func (j *Journal) newWatch() (*watch, error) {
	id, err := j.fs.Identify(j.dir)
	if err != nil {
		return nil, err
	}
	return &watch{j: j, dir: id}, nil
}

// run is the goroutine that looks now and then.
func (w *watch) run() {
	w.begin()
	tick := time.NewTicker(w.j.opts.Watch)
	defer tick.Stop()
	for {
		select {
		case <-w.j.quit:
			return
		case <-w.j.ended:
			return
		case <-tick.C:
		}
		err := w.look()
		switch w.failures++; {
		case err == nil:
			w.failures = 0
		case outOfHandles(err): // what was to be written again waits for them
			w.failures = 0
			if w.said.isNew(err) {
				w.j.opts.Report(fmt.Errorf("look at %s: %w", w.j.dir, err))
			}
			continue
		}
		switch {
		case errors.Is(err, errFolder):
			_ = w.j.failForGood(err) // told by Failed
			return
		case w.failures >= watchTries:
			_ = w.j.fail(err) // whether it is still the folder is looked at when it is opened again
			return
		}
	}
}

// begin notes what was made at the start.
func (w *watch) begin() {
	w.j.syncMu.Lock()
	defer w.j.syncMu.Unlock()
	if f := w.j.note.f; f != nil {
		if id, err := f.Identify(); err == nil {
			w.note = id
		}
	}
}

// look compares the folder and what is in it with what was opened. An error that is not errFolder may pass.
func (w *watch) look() error {
	j := w.j
	if err := w.lookAtFolder(); err != nil {
		return err
	}
	renewed, err := j.lock.Hold()
	if outOfHandles(err) {
		return err // the folder itself is locked: nobody else was let in
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errFolder, err)
	}
	if renewed {
		j.opts.Report(fmt.Errorf("the lock file in %s was removed or replaced by somebody; it was made again, and "+
			"nobody else was let in", j.dir))
	}
	if err := w.lookAtTail(); err != nil {
		return err
	}
	if err := w.lookAtManifests(); err != nil {
		return err
	}
	if err := w.lookAtNote(); err != nil {
		return err
	}
	if err := w.lookAtCheckpoints(); err != nil {
		return err
	}
	return w.lookAtSealed()
}

// lookAtFolder makes sure that the path still leads to the folder, and that it can be written to.
func (w *watch) lookAtFolder() error {
	j := w.j
	j.disk.begin(looking)
	defer j.disk.end(looking)
	switch id, err := j.fs.Identify(j.dir); {
	case missing(err):
		return fmt.Errorf("%w: the folder is gone: it was renamed, removed or unmounted", errFolder)
	case err != nil:
		return fmt.Errorf("look at the folder: %w", err)
	case id != w.dir:
		return fmt.Errorf("%w: another folder stands in the place of the one that was opened", errFolder)
	}
	if v, err := j.fs.Volume(j.dir); err == nil && v.ReadOnly {
		return fmt.Errorf("%w: its file system has become one for reading only", errFolder)
	}
	return nil
}

// lookAtTail makes sure that the newest segment, which takes what is appended, still has its name and its length: the
// journal never cuts one, and behind a cut what is written would be out of reach.
func (w *watch) lookAtTail() error {
	j := w.j
	j.mu.Lock()
	s := j.tail
	whole := s.size
	j.mu.Unlock()
	want, size, err := s.identify()
	if err != nil {
		return err
	}
	got, err := j.fs.Identify(s.name)
	if err != nil && !missing(err) {
		return fmt.Errorf("look at %s: %w", s.name, err)
	}
	if err == nil && got == want {
		if size < whole {
			return fmt.Errorf("%w: its newest segment %s was cut to %d bytes of %d by somebody", errFolder, s.name, size,
				whole)
		}
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.tail != s { // it was sealed meanwhile, and perhaps reclaimed
		return nil
	}
	return fmt.Errorf("%w: its newest segment %s was removed or replaced", errFolder, s.name)
}

// identify tells which file a segment is, whatever has become of its name, and how long that is.
func (s *segment) identify() (id ID, size int64, err error) {
	s.use.RLock()
	defer s.use.RUnlock()
	if s.gone != nil {
		return nil, 0, s.gone
	}
	if size, err = s.f.Size(); err != nil {
		return nil, 0, err
	}
	id, err = s.f.Identify()
	return id, size, err
}

// lookAtManifests writes the list of segments again if a file of it was removed: the list itself is in memory.
func (w *watch) lookAtManifests() error {
	j := w.j
	for turn := range uint64(manifestFiles) {
		name := manifestName(j.dir, turn)
		switch _, err := j.fs.Identify(name); {
		case err == nil:
			w.manifests[turn] = true
			continue
		case !missing(err):
			return fmt.Errorf("look at %s: %w", name, err)
		case !w.manifests[turn]:
			continue
		}
		switch err := j.renewManifest(int(turn), j.turn()); {
		case durable.Full(err), outOfHandles(err): // when there is room again, or handles
			if w.said.isNew(err) {
				j.opts.Report(fmt.Errorf("%s was removed by somebody, and cannot be written again: %w", name, err))
			}
			continue
		case err != nil:
			return fmt.Errorf("write the manifest again, which was removed: %w", err)
		}
		j.opts.Report(fmt.Errorf("%s was removed by somebody; the list of segments was written again", name))
	}
	return nil
}
