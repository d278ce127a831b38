package file

import (
	"context"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
)

const (
	// With durability none at most this much waits in memory, for at most this long.
	unwrittenBytes = 1 << 20
	unwrittenDelay = 100 * time.Millisecond
)

// complete is the handler of the grouper: one sync for all groups that were written while the last one ran, then their
// done functions in the order of the log.
func (j *Journal) complete(_ context.Context, batch []waiter) []error {
	var err error
	if j.opts.Durability == journal.Fsync {
		err = j.syncLog()
	}
	defer func() {
		if v := recover(); v != nil { // those behind it will not be called: nobody may go on as if nothing had happened
			j.opts.Report(j.fail(fmt.Errorf("a done function panicked: %v", v)))
			panic(v)
		}
	}()
	for i := range batch {
		w := &batch[i]
		<-j.slots
		switch {
		case w.err != nil:
			w.done(0, w.err)
		case err != nil:
			w.done(0, fmt.Errorf("%w: %w", journal.ErrUnknown, err))
		default:
			w.done(w.at, nil)
		}
	}
	return nil
}

// syncLog makes durable whatever was written before the call.
func (j *Journal) syncLog() error {
	j.mu.Lock()
	err := j.flush()
	s, last := j.tail, j.last
	j.unsynced = 0
	j.mu.Unlock()
	if err != nil {
		return err
	}
	return j.syncSegment(s, last)
}

// syncSegment makes a segment durable up to the group at last. All segments before it are durable.
func (j *Journal) syncSegment(s *segment, last journal.Position) error {
	j.syncMu.Lock()
	defer j.syncMu.Unlock()
	// A sync may succeed after one that failed, although pages are lost: so the failure is looked at under the lock.
	if err := j.failed(); err != nil {
		return err
	}
	if err := s.sync(); err != nil {
		return j.fail(fmt.Errorf("sync %s: %w", s.name, err))
	}
	j.count.syncs.Add(1)
	if uint64(last) > j.durable.Load() {
		j.durable.Store(uint64(last)) // only here, under syncMu
	}
	return nil
}

// Sync implements journal.Journal. With durability os or none it gives what is in memory to the operating system: that
// is all they promise.
func (j *Journal) Sync(ctx context.Context) error {
	if err := j.usable(); err != nil {
		return fmt.Errorf("sync journal %s: %w", j.dir, err)
	}
	if j.opts.Durability != journal.Fsync {
		j.mu.Lock()
		defer j.mu.Unlock()
		return j.flush()
	}
	select {
	case j.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	synced := make(chan error, 1)
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		<-j.slots
		return fmt.Errorf("sync journal %s: %w", j.dir, journal.ErrClosed)
	}
	err := j.waiting.Post(waiter{0, func(_ journal.Position, err error) { synced <- err }, nil})
	j.mu.Unlock()
	if err != nil {
		<-j.slots
		return err
	}
	select {
	case err := <-synced:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// usable says why the journal takes nothing, or nil.
func (j *Journal) usable() error {
	if j.opts.ReadOnly {
		return fmt.Errorf("%w: opened for reading only", journal.ErrRefused)
	}
	j.mu.Lock()
	closed := j.closed
	j.mu.Unlock()
	if closed {
		return journal.ErrClosed
	}
	return j.failed()
}

// flush writes what waits in memory. mu is held. It does nothing but with durability none.
func (j *Journal) flush() error {
	if len(j.unwritten) == 0 {
		return nil
	}
	if err := j.failed(); err != nil {
		return err
	}
	s := j.tail
	offset := s.end - int64(len(j.unwritten))
	if _, err := s.f.WriteAt(j.unwritten, offset); err != nil {
		return j.fail(fmt.Errorf("write %d bytes at %d of %s: %w", len(j.unwritten), offset, s.name, err))
	}
	j.unwritten = j.unwritten[:0]
	if cap(j.unwritten) > 4*unwrittenBytes {
		j.unwritten = nil
	}
	return nil
}

// flushNowAndThen bounds how long groups stay in memory with durability none.
func (j *Journal) flushNowAndThen() {
	tick := time.NewTicker(unwrittenDelay)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			j.mu.Lock()
			if err := j.flush(); err != nil {
				j.opts.Report(err)
			}
			j.mu.Unlock()
		case <-j.quit:
			return
		}
	}
}
