package file

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/hikyaku/hikyaku/internal/journal"
)

var _ journal.Reopener = (*Journal)(nil)

// expected is what a folder has to hold that is opened again.
type expected struct {
	folder ID
	last   journal.Position // what is durable ends there, or later
}

// fail makes the journal refuse everything from now on. The first reason stays. It may be opened again: as long as no
// sync has failed, the files are what a process that is killed at this moment leaves behind, and a start handles that.
func (j *Journal) fail(err error) error {
	switch synced := j.syncs.err(); {
	case synced != nil && !errors.Is(err, synced):
		return j.failForGood(fmt.Errorf("%w (%w: %w)", err, errSynced, synced))
	case synced != nil, errors.Is(err, syscall.EROFS): // a file system that takes no more writes has given up
		return j.failForGood(err)
	}
	return j.failWith(fmt.Errorf("%w: %s: %w (%w)", journal.ErrFailed, j.dir, err, journal.ErrReopen))
}

// failForGood is fail where the process has to end: what it has called durable may not be where it belongs.
func (j *Journal) failForGood(err error) error {
	return j.failWith(fmt.Errorf("%w: %s: %w", journal.ErrFailed, j.dir, err))
}

func (j *Journal) failWith(err error) error {
	if j.failure.CompareAndSwap(nil, &err) {
		close(j.ended)
		return err
	}
	return *j.failure.Load()
}

// confirm makes sure, at the end of a journal that has failed and may be opened again, that the disk has what was
// written before it failed. It asks by the handle that wrote it: of a page that the operating system could not write
// meanwhile it tells each handle once, and one that is opened later perhaps not at all.
func (j *Journal) confirm() error {
	if j.opts.Durability != journal.Fsync || j.syncs.err() != nil || !errors.Is(j.failed(), journal.ErrReopen) {
		return nil
	}
	if err := j.tail.sync(); err != nil {
		return fmt.Errorf("%w: sync %s: %w", errSynced, j.tail.name, err)
	}
	return nil
}

// Reopen implements journal.Reopener. It does what a start does, and looks before it changes anything whether this is
// the folder that it was, and whether everything is there that was durable.
func (j *Journal) Reopen(ctx context.Context) (journal.Journal, error) {
	if j.opts.ReadOnly {
		return nil, fmt.Errorf("reopen journal %s: %w: it was opened for reading only", j.dir, journal.ErrRefused)
	}
	closed := j.Close() // it says of a journal that has failed that it has
	switch failed, synced := j.failed(), j.syncs.err(); {
	case failed != nil && !errors.Is(failed, journal.ErrReopen):
		return nil, fmt.Errorf("this process cannot open the journal again: %w", failed)
	case synced != nil:
		return nil, fmt.Errorf("this process cannot open the journal again: %w: %s: %w: %w", journal.ErrFailed, j.dir,
			errSynced, synced)
	case failed == nil && closed != nil:
		return nil, fmt.Errorf("reopen journal %s: %w", j.dir, closed)
	}
	o := j.opts
	o.Scrub = j.Scrub()
	next, err := open(ctx, o, &expected{folder: j.watch.dir, last: j.promised()})
	if err == nil {
		return next, nil
	}
	if next.passing(err) && ctx.Err() == nil {
		err = fmt.Errorf("%w (%w)", err, journal.ErrReopen)
	}
	return nil, err
}

// promised is the end of what has to be in the files, whatever becomes of the process.
func (j *Journal) promised() journal.Position {
	switch j.opts.Durability {
	case journal.Fsync:
		return journal.Position(j.durable.Load())
	case journal.OS:
		j.mu.Lock()
		defer j.mu.Unlock()
		return j.lastWritten
	}
	return 0
}

// passing tells whether an opening that failed may succeed when it is tried again, and prove as much then.
func (j *Journal) passing(err error) bool {
	var damage *journal.DamageError
	var format *journal.FormatError
	return j.syncs.err() == nil && !errors.As(err, &damage) && !errors.As(err, &format) && !missing(err) &&
		!errors.Is(err, journal.ErrLocked) && !errors.Is(err, errFolder) && !errors.Is(err, syscall.EROFS)
}

// sameFolder makes sure that the folder which was locked is the one that was open before.
func (e *expected) sameFolder(id ID) error {
	if e == nil || id == e.folder {
		return nil
	}
	return fmt.Errorf("%w: another folder stands in the place of the one that was open", errFolder)
}

// wholeIn makes sure that a log has all that was durable when it was open before.
func (e *expected) wholeIn(j *Journal) error {
	switch {
	case e == nil || j.tail != nil && j.last >= e.last:
		return nil
	case j.tail == nil:
		return fmt.Errorf("%w: the journal in it has not begun", errFolder)
	}
	return j.tail.damage(j.tail.end, fmt.Sprintf("the log ends at position %d, but the group at position %d was "+
		"durable when this process had it open before", j.last, e.last))
}
