package queue

import (
	"context"
	"errors"
	"io"
	"runtime"
	"time"
)

// checkpointLook is how often the Store looks whether a checkpoint is due.
const checkpointLook = time.Second

// keepCheckpoints saves the state from time to time, so that a start has little to fold and old segments can go.
func (s *Store) keepCheckpoints() {
	defer s.ending.Done()
	tick := time.NewTimer(checkpointLook)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case saved := <-s.saveNow:
			saved <- s.checkpoint(s.ctx)
			continue
		case <-tick.C:
		}
		st := s.journal.Stats()
		s.mu.Lock()
		due := s.pressed > 0 || st.Bytes-s.checkpointed >= max(s.every, 2*s.checkpointSize)
		s.pressed = max(0, s.pressed-1)
		s.mu.Unlock()
		if due {
			// A failure is not the end: the next one may succeed, and until then a start has more to fold.
			_ = s.checkpoint(s.ctx)
		}
		tick.Reset(checkpointLook)
	}
}

// Checkpoint saves the state now, and returns when that is done: a start, or the next owner of a log on several nodes,
// has little to fold then. Work goes on meanwhile. When ctx ends first the checkpoint may be saved all the same.
func (s *Store) Checkpoint(ctx context.Context) error {
	saved := make(chan error, 1)
	var err error
	select {
	case s.saveNow <- saved:
		select {
		case err = <-saved:
		case <-ctx.Done():
			return ctx.Err()
		}
	case <-s.ctx.Done(): // the Store is closed
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if over := s.usable(); over != nil {
		return over
	}
	return err
}

// checkpoint writes the pages that are complete, waits until no group is under way, begins a snapshot, lets work go on,
// and saves it.
func (s *Store) checkpoint(ctx context.Context) error {
	if err := s.recordPages(ctx); err != nil && !errors.Is(err, ErrClosed) {
		return err
	}
	s.mu.Lock()
	if s.failed != nil {
		s.mu.Unlock()
		return s.failed
	}
	s.paused++
	if err := s.flushPaused(); err != nil {
		s.goOnPutting()
		s.mu.Unlock()
		return err
	}
	at := s.journal.End()
	snap := s.state.beginSnapshot()
	appended := s.journal.Stats().Bytes
	s.goOnPutting()
	s.mu.Unlock()
	var size uint64
	err := s.journal.Sync(ctx)
	if err == nil {
		err = s.journal.SaveCheckpoint(ctx, at, func(w io.Writer) (err error) {
			size, err = snap.writeTo(w, s.locked)
			return err
		})
	}
	s.mu.Lock()
	snap.end()
	if err == nil {
		s.state.saves.done++
		s.checkpointed, s.checkpointSize = appended, size
	}
	s.mu.Unlock()
	for more := err == nil; more; {
		s.mu.Lock()
		more = s.state.releaseRetired(walkPiece)
		s.settleUp()
		s.mu.Unlock()
		runtime.Gosched() // whoever waits for the lock gets it before the next piece
	}
	return err
}

// flushPaused returns during a pause when no group is under way and all that was written is in the journal, so that its
// end is known without its medium. The lock is held before and after.
func (s *Store) flushPaused() error {
	for {
		for s.flights > 0 {
			s.landing.Wait()
		}
		s.mu.Unlock()
		err := s.journal.Flush()
		s.mu.Lock()
		if err != nil {
			return s.journalError(err)
		}
		if s.flights == 0 { // else another pause has ended in a group
			return nil
		}
	}
}

// recordPages writes the pages that are complete, a few at a time. When the disk is full they stay as they are: a
// checkpoint then holds them whole.
func (s *Store) recordPages(ctx context.Context) error {
	s.mu.Lock()
	all := s.state.queuesByID.Copy()
	s.mu.Unlock()
	for _, id := range all.Keys() {
		for next := uint64(0); ; {
			done, err := s.recordSome(ctx, id, &next)
			if err != nil {
				if errors.Is(err, ErrNoRoom) {
					return nil
				}
				return err
			}
			if done {
				break
			}
		}
	}
	return nil
}

// recordSome writes the next few pages of a queue, and moves next behind them.
func (s *Store) recordSome(ctx context.Context, id uint32, next *uint64) (done bool, err error) {
	if err := s.enter(ctx); err != nil {
		return false, err
	}
	events, behind, more := s.state.toRecord(id, *next, s.groups.pagedBytes)
	*next = behind
	if len(events) == 0 {
		s.leave()
		return !more, nil
	}
	f := newFlight(events...)
	pressed := s.pressed
	if err := s.submit(f); err != nil {
		s.pressed = pressed // a full disk calls for checkpoints when it refuses somebody; not for this
		s.leave()
		return false, err
	}
	s.mu.Unlock()
	return !more, f.wait(ctx)
}
