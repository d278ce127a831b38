package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/batch"
	"github.com/hikyaku/hikyaku/internal/journal"
)

// Journal is a journal in the files of a folder. It implements journal.Journal.
//
// Locks are taken in the order in which the fields name them: mu, zeroMu, manifestMu, syncMu, segMu, liveMu.
type Journal struct {
	opts   Options
	fs     FS
	dir    string
	unlock io.Closer

	slots   chan struct{} // one for each append that waits for its sync: bounds them
	buffers sync.Pool     // *[]byte, for encoding
	windows sync.Pool     // *[]byte, for reading
	large   sync.Mutex    // held while encoding a group that is too large for the pool: one at a time

	// mu is the order of the log: who holds it has the next place.
	mu        sync.Mutex
	closed    atomic.Bool // set under mu
	tail      *segment
	last      journal.Position // last group of any kind
	spares    []spare
	spareNext uint64
	unwritten unwritten
	number    uint64                 // of the next waiter
	refusals  []refusal              // of waiters who have not been told yet
	waiting   *batch.Grouper[waiter] // for syncs; nil: opened for reading only

	zeroMu     sync.Mutex // held while the keeper writes zeros; it does not take mu meanwhile
	manifestMu sync.Mutex // one change of the set of segments at a time
	manifest   manifest   // as it was written last

	syncMu sync.Mutex // one sync at a time, so that nobody misses that it failed

	segMu sync.RWMutex
	segs  []*segment // by base

	liveMu sync.Mutex // segment.live, and:
	kept   bool       // Keep was called

	checkpoints checkpoints

	end     atomic.Uint64 // last group of the owner's
	written atomic.Uint64 // everything before this position is in the file
	durable atomic.Uint64 // highest position known to be synced
	failure atomic.Pointer[error]
	count   counters

	tidy     chan struct{} // wakes the keeper
	quit     chan struct{}
	owned    sync.WaitGroup // the keeper and the flusher
	closing  sync.Once
	closeErr error
	cache    tableCache
}

var _ journal.Journal = (*Journal)(nil)

type counters struct {
	groups, records, bytes, syncs atomic.Uint64
}

// Open opens the journal in opts.Dir, which it makes when there is none. What the last process left is checked and,
// after an unclean end, repaired as far as a torn tail goes; nothing that was ever durable is cut away.
//
// Errors: journal.ErrLocked when another process has the folder; a *journal.DamageError when what must be sound is not.
func Open(ctx context.Context, opts Options) (*Journal, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	j := &Journal{
		opts:  o,
		fs:    o.FS,
		dir:   o.Dir,
		slots: make(chan struct{}, o.MaxPending),
		tidy:  make(chan struct{}, 1),
		quit:  make(chan struct{}),
	}
	j.buffers.New = func() any { return new([]byte) }
	j.windows.New = func() any { return new([]byte) }
	if err := j.load(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal %s: %w", o.Dir, err), j.letGo())
	}
	j.written.Store(uint64(j.tail.at(j.tail.end)))
	if !o.ReadOnly {
		j.waiting = j.newWaiting()
		j.owned.Go(j.keep)
		if o.Durability == journal.None {
			j.owned.Go(j.flushNowAndThen)
		}
	}
	return j, nil
}

// Info implements journal.Journal.
func (j *Journal) Info() journal.Info {
	return journal.Info{
		Durability: j.opts.Durability,
		Limits:     journal.Limits{GroupBytes: j.opts.MaxGroupBytes, GroupRecords: maxGroupRecords},
		Where:      j.dir,
	}
}

// End implements journal.Journal.
func (j *Journal) End() journal.Position { return journal.Position(j.end.Load()) }

// Stats implements journal.Journal.
func (j *Journal) Stats() journal.Stats {
	st := journal.Stats{
		Groups:     j.count.groups.Load(),
		Records:    j.count.records.Load(),
		Bytes:      j.count.bytes.Load(),
		Syncs:      j.count.syncs.Load(),
		Checkpoint: j.checkpoints.newest(),
	}
	j.mu.Lock()
	for _, s := range j.spares {
		st.TotalBytes += uint64(s.size)
	}
	j.segMu.RLock()
	segs := slices.Clone(j.segs)
	j.segMu.RUnlock()
	type sum struct {
		size   int64
		totals totals
	}
	sums := make([]sum, len(segs))
	for i, s := range segs {
		sums[i] = sum{s.size, s.totals}
	}
	j.mu.Unlock()
	j.liveMu.Lock()
	defer j.liveMu.Unlock()
	for i, s := range segs {
		st.TotalBytes += uint64(sums[i].size)
		if t := sums[i].totals; t.lasting > 0 {
			live := uint64(s.live.count)
			if !j.kept && live == 0 {
				live = t.lasting
			}
			st.LiveBytes += uint64(float64(t.lastingBytes) / float64(t.lasting) * float64(live))
		}
	}
	st.Segments = len(segs)
	return st
}

// fail makes the journal refuse everything from now on. The first reason stays.
func (j *Journal) fail(err error) error {
	err = fmt.Errorf("%w: %s: %w", journal.ErrFailed, j.dir, err)
	if j.failure.CompareAndSwap(nil, &err) {
		return err
	}
	return *j.failure.Load()
}

// failed returns why the journal refuses everything, or nil.
func (j *Journal) failed() error {
	if err := j.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// segmentOf returns the segment in which a position lies, or nil.
func (j *Journal) segmentOf(p journal.Position) *segment {
	j.segMu.RLock()
	defer j.segMu.RUnlock()
	return segmentIn(j.segs, p)
}

func segmentIn(segs []*segment, p journal.Position) *segment {
	i, found := slices.BinarySearchFunc(segs, p, func(s *segment, p journal.Position) int {
		switch {
		case s.base < p:
			return -1
		case s.base > p:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	if i < 0 || segs[i].offset(p) >= segs[i].size {
		return nil
	}
	return segs[i]
}

// Close implements journal.Journal.
func (j *Journal) Close() error {
	j.closing.Do(func() { j.closeErr = j.close() })
	return j.closeErr
}

func (j *Journal) close() error {
	j.mu.Lock()
	j.closed.Store(true)
	j.mu.Unlock()
	var err error
	if j.waiting != nil {
		err = j.waiting.Close() // after the last sync and its done functions
	}
	close(j.quit)
	j.owned.Wait()
	if !j.opts.ReadOnly {
		err = errors.Join(err, j.sealClean())
	}
	return errors.Join(err, j.letGo())
}

// letGo closes the files and gives the lock back.
func (j *Journal) letGo() error {
	var errs []error
	j.segMu.RLock()
	for _, s := range j.segs {
		errs = append(errs, s.shut(journal.ErrClosed))
	}
	j.segMu.RUnlock()
	if j.unlock != nil {
		errs = append(errs, j.unlock.Close())
		j.unlock = nil
	}
	return errors.Join(errs...)
}
