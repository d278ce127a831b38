package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/batch"
	"github.com/hikyaku/hikyaku/internal/journal"
)

// Journal is a journal in the files of a folder. It implements journal.Journal.
//
// Locks are taken in the order in which the fields name them: mu, intake.mu, zeroMu, manifestMu, syncMu, segMu, liveMu.
type Journal struct {
	opts  Options
	fs    FS
	dir   string
	lock  Lock   // nil: opened for reading only
	watch *watch // nil: the same

	slots   chan struct{} // one for each append that waits for its sync: bounds them
	buffers sync.Pool     // *[]byte, for encoding
	windows shelf         // for reading
	large   sync.Mutex    // held while encoding a group that is too large for the pool: one at a time

	// mu is the order of the log: who holds it has the next place.
	mu        sync.Mutex
	closed    atomic.Bool // set under mu and intake.mu
	tail      *segment
	last      journal.Position // last group of any kind
	spares    []spare
	spareNext uint64
	begun     uint64 // segments
	// bytes of the largest group of lasting records refused for want of room, since the reserve was whole
	refused   int64
	shortage  error         // why the reserve could not be made up, since it was whole
	borrowed  chan struct{} // not nil while cleaning has a spare of a full disk; closed when it is given back
	unwritten unwritten
	placing   placing
	refusals  []refusal // of waiters who have not been told yet
	// of the unwritten groups: those that were said to be kept and for which the disk had no room
	heldBack     int
	lastWritten  journal.Position // last group of any kind that is in its file
	nextWaiter   uint64           // the number behind those of all waiters whose groups have places
	placedWrites uint64           // of intake.written: those that have places

	intake intake

	waiting *batch.Grouper[waiter] // for syncs; nil: opened for reading only
	news    news                   // of what has become durable

	zeroMu     sync.Mutex // held while the keeper writes zeros; it does not take mu meanwhile
	manifestMu sync.Mutex // one change of the set of segments at a time
	manifest   manifest   // as it was written last
	lists      lists

	syncMu sync.Mutex // one sync at a time, so that nobody misses that it failed
	note   noteKeeper

	segMu sync.RWMutex // the lists, which are replaced, never changed
	segs  []*segment   // by base
	moved []*movedTable
	colds []*coldSegment // by number

	coldNext uint32 // number of the next cold segment; the cleaner's

	liveMu sync.Mutex // segment.live and the like, and:
	kept   bool       // Keep was called

	checkpoints checkpoints

	end           atomic.Uint64 // last group of the owner's
	written       atomic.Uint64 // everything before this position is in the file
	durable       atomic.Uint64 // highest position known to be synced
	flushedWrites atomic.Uint64 // of intake.written: those that are in the file
	failure       atomic.Pointer[error]
	syncs         witness
	ended         chan struct{} // closed once failure is set
	count         counters
	disk          underWay
	found         found // damage, while the journal is open

	scrubbing scrubbing

	tidy     chan struct{} // wakes the keeper
	dirty    chan struct{} // wakes the cleaner
	short    atomic.Bool   // the reserve cannot be made up: there is no room on the medium
	quit     chan struct{}
	owned    sync.WaitGroup // the keeper, the cleaner, the flusher, the watch, the scrubber and who minds the disk
	closing  sync.Once
	closeErr error
	cache    tableCache
}

var _ journal.Journal = (*Journal)(nil)

type counters struct {
	groups, records, bytes, syncs atomic.Uint64
	copied, checkpoints, scrubbed atomic.Uint64 // bytes
}

// ErrNoJournal says that there is none in a folder, and that none was to be made.
var ErrNoJournal = errors.New("there is no journal in this folder")

// Open opens the journal in opts.Dir, which it makes when there is none (see Options.Existing). What the last process
// left is checked and, after an unclean end, repaired as far as a torn tail goes; nothing that was ever durable is cut
// away.
//
// Errors: journal.ErrLocked when another process has the folder; a *journal.DamageError when what must be sound is
// not; ErrNoJournal.
func Open(ctx context.Context, opts Options) (*Journal, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	j, err := open(ctx, o, nil)
	if err != nil {
		return nil, err
	}
	return j, nil
}

// open is Open of what is expected to be there; nil: of what there is, or of nothing. After an error the journal is one
// that knows whether a sync has failed.
func open(ctx context.Context, o Options, want *expected) (*Journal, error) {
	j := &Journal{
		opts:  o,
		dir:   o.Dir,
		slots: make(chan struct{}, o.MaxPending),
		tidy:  make(chan struct{}, 1),
		dirty: make(chan struct{}, 1),
		quit:  make(chan struct{}),
		ended: make(chan struct{}),
		disk:  underWay{tick: max(1, o.Patience/ticksOfPatience)},
		cache: tableCache{most: o.TableBytes},
	}
	j.scrubbing.set(o.Scrub)
	j.fs = witnessFS{o.FS, &j.syncs}
	j.buffers.New = func() any { return new([]byte) }
	if err := j.load(ctx, want); err != nil {
		return j, errors.Join(fmt.Errorf("open journal %s: %w", o.Dir, err), j.letGo())
	}
	j.written.Store(uint64(j.tail.at(j.tail.end)))
	j.lastWritten = j.last
	if !o.ReadOnly {
		j.waiting = j.newWaiting()
		j.tellRoom()
		j.owned.Go(j.keep)
		if o.CleanBytes > 0 {
			j.owned.Go(j.clean)
		}
		if o.Durability == journal.None {
			j.owned.Go(j.flushNowAndThen)
		}
		if o.Watch > 0 {
			j.owned.Go(j.watch.run)
		}
		j.owned.Go(j.scrub)
		if o.Patience > 0 {
			j.owned.Go(j.mindDisk)
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

// SegmentBytes is the size of the segments that are made: space is reclaimed by as much at a time.
func (j *Journal) SegmentBytes() int64 { return j.opts.SegmentBytes }

// End implements journal.Journal.
func (j *Journal) End() journal.Position {
	j.intake.mu.Lock()
	all := len(j.intake.groups) == 0 && j.intake.placing == 0
	j.intake.mu.Unlock()
	if !all {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.placeTaken()
	}
	return journal.Position(j.end.Load())
}

// failed returns why the journal refuses everything, or nil.
func (j *Journal) failed() error {
	if err := j.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// segmentIn returns the index of the segment in which a position lies, or -1.
func segmentIn(segs []*segment, p journal.Position) int {
	i, found := slices.BinarySearchFunc(segs, p,
		func(s *segment, p journal.Position) int { return cmp.Compare(s.base, p) })
	if !found {
		i--
	}
	if i < 0 || segs[i].offset(p) >= segs[i].reach() {
		return -1
	}
	return i
}

// Close implements journal.Journal.
func (j *Journal) Close() error {
	j.closing.Do(func() { j.closeErr = j.close() })
	return j.closeErr
}

func (j *Journal) close() error {
	j.lockWhole()
	j.closed.Store(true)
	j.unlockWhole()
	var err error
	if j.waiting != nil {
		err = j.waiting.Close() // after the last sync and its done functions
	}
	close(j.quit)
	j.owned.Wait()
	if !j.opts.ReadOnly {
		err = errors.Join(err, j.sealClean())
	}
	return errors.Join(err, j.syncs.saw(j.letGo())) // a file that is closed may tell, too, of what was not written
}

// letGo closes the files and gives the lock back.
func (j *Journal) letGo() error {
	var errs []error
	j.segMu.RLock()
	for _, s := range j.segs {
		errs = append(errs, s.shut(journal.ErrClosed))
	}
	for _, c := range j.colds {
		errs = append(errs, c.shut(journal.ErrClosed))
	}
	j.segMu.RUnlock()
	errs = append(errs, j.note.close(), j.lists.close())
	for _, sp := range j.spares {
		errs = append(errs, sp.f.Close())
	}
	j.spares = nil
	if j.lock != nil {
		errs = append(errs, j.lock.Close())
		j.lock = nil
	}
	return errors.Join(errs...)
}
