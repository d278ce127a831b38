package file

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/batch"
	"github.com/hikyaku/hikyaku/internal/journal"
)

// With durability none what waits in memory waits for at most this long.
const unwrittenDelay = 100 * time.Millisecond

// waiter is somebody who waits for a sync.
type waiter struct {
	number uint64           // in the order of the log
	group  bool             // he waits for one of his own; else for whatever is there
	at     journal.Position // of his group, once it has a place
	done   journal.Done
}

// refusal says that the waiters for groups numbered from … to, the last not included, are not served: their groups were
// taken back.
type refusal struct {
	from, to uint64
	why      error
}

// enqueue makes somebody one of those whom the next sync serves. group: for a group of his own, which is in the intake,
// or has its place. If he takes turns and nobody else is to make that sync, it is his. The lock of the intake is held.
func (j *Journal) enqueue(done journal.Done, group, takes bool) (turn func()) {
	w := waiter{number: j.intake.number, group: group, done: done}
	j.intake.number++
	var err error
	if takes {
		turn, err = j.waiting.PostTurn(w)
	} else {
		err = j.waiting.Post(w)
	}
	// It has room for every slot, and is closed only after closed was set: an error cannot be, but must not be lost.
	if err != nil {
		j.opts.Report(j.failForGood(fmt.Errorf("nobody waits for syncs any more: %w", err)))
	}
	return turn
}

// newWaiting is the group commit: one write and one sync for all who came while the last ones ran, and for those who
// come back at once when they are answered.
func (j *Journal) newWaiting() *batch.Grouper[waiter] {
	return batch.New(batch.Config[waiter]{
		MaxCount: j.opts.MaxPending, Pending: j.opts.MaxPending, Gather: j.opts.Durability != journal.None,
		Handle: func(_ context.Context, ws []waiter) []error {
			j.commit(ws)
			return nil
		},
	})
}

// commit makes durable what the waiters wait for, and tells them.
func (j *Journal) commit(ws []waiter) {
	j.mu.Lock()
	j.placeTaken()
	err := j.failed()
	if err == nil && j.opts.Durability != journal.None {
		err = j.flush()
	}
	s, last := j.tail, j.lastWritten
	for i := range ws {
		if w := &ws[i]; w.group {
			w.at = j.placing.take(w.number)
		}
	}
	refusals := j.refusalsFrom(ws[0].number)
	short := j.placing.why
	if errors.Is(err, journal.ErrFull) {
		short = errors.Join(short, j.behind(err))
		err = nil // those whom it concerns are told
	}
	j.mu.Unlock()
	if err == nil && j.opts.Durability == journal.Fsync {
		err = j.syncSegment(s, last)
	}
	for range ws {
		<-j.slots
	}
	j.answer(ws, refusals, short, err)
}

// refusalsFrom returns the refusals that concern waiters from a number on; those before have been told. mu is held.
func (j *Journal) refusalsFrom(number uint64) []refusal {
	j.refusals = slices.DeleteFunc(j.refusals, func(r refusal) bool { return r.to <= number })
	return slices.Clone(j.refusals)
}

// answer calls the done functions in the order of the log. short is what is told to those who wait for everything that
// was written.
func (j *Journal) answer(ws []waiter, refusals []refusal, short, err error) {
	defer func() {
		if v := recover(); v != nil { // those behind it will not be called: nobody may go on as if nothing had happened
			j.opts.Report(j.failForGood(fmt.Errorf("a done function panicked: %v", v)))
		}
	}()
	left := 0 // groups: others wait only for the sync
	for i := range ws {
		if ws[i].group {
			left++
		}
	}
	for i := range ws {
		w := &ws[i]
		if w.group {
			left--
		}
		why := err
		if why != nil {
			why = fmt.Errorf("%w: %w", journal.ErrUnknown, why)
		}
		if why == nil && !w.group {
			why = short
		}
		for _, r := range refusals {
			if w.group && r.from <= w.number && w.number < r.to {
				why = r.why
			}
		}
		if why != nil {
			w.done(0, why, left)
			continue
		}
		w.done(w.at, nil, left)
	}
}

// syncLog makes durable whatever was added before the call.
func (j *Journal) syncLog() error {
	j.mu.Lock()
	err := j.write()
	s, last := j.tail, j.lastWritten
	j.mu.Unlock()
	if err != nil && !errors.Is(err, journal.ErrFull) {
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
	if uint64(last) <= j.durable.Load() {
		return nil // by a sync for somebody else
	}
	j.disk.begin(syncing)
	defer j.disk.end(syncing)
	if err := s.sync(); err != nil {
		return j.fail(fmt.Errorf("sync %s: %w", s.name, err))
	}
	j.count.syncs.Add(1)
	j.noteSynced(s, last)
	j.durable.Store(uint64(last)) // only here, under syncMu
	j.news.tell()
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
		if err := j.write(); err != nil && j.behind(err) != nil {
			return fmt.Errorf("sync journal %s: %w", j.dir, err)
		}
		return nil
	}
	select {
	case j.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	synced := make(chan error, 1)
	j.intake.mu.Lock()
	if j.closed.Load() {
		j.intake.mu.Unlock()
		<-j.slots
		return fmt.Errorf("sync journal %s: %w", j.dir, journal.ErrClosed)
	}
	j.enqueue(func(_ journal.Position, err error, _ int) { synced <- err }, false, false)
	j.intake.mu.Unlock()
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
	if j.closed.Load() {
		return journal.ErrClosed
	}
	return j.failed()
}

// flushNowAndThen bounds how long groups stay in memory with durability none.
func (j *Journal) flushNowAndThen() {
	tick := time.NewTicker(unwrittenDelay)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			j.mu.Lock()
			if err := j.write(); err != nil {
				j.opts.Report(err)
			}
			j.mu.Unlock()
		case <-j.quit:
			return
		}
	}
}
