package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// Options say how a journal behaves.
type Options struct {
	// Limits of one group; those that are 0 are 1 GiB and 1,048,576 records.
	Limits journal.Limits
	// Durability is what Info says; "": journal.None, which is what memory is. Who treats a Disk as something that
	// outlives the process says journal.Fsync.
	Durability journal.Durability
	// Term, if set, takes the disk over from whoever has it open with a lesser one, who has lost it then:
	// journal.ErrLost. It has to be greater than every term before: else it is the opening that is refused with that.
	Term uint64
	// ReadOnly opens the disk whoever has it open, to read it and to follow what comes. Nothing is taken:
	// journal.ErrRefused.
	ReadOnly bool
	// KeepAll keeps the log whole, though nothing of a part of it is needed any more.
	KeepAll bool
	// Strict, if set, is told of what the contract allows and a careful owner does not do: a record that is released or
	// kept twice, one that is kept after it was released, a checkpoint of what is not durable.
	Strict func(what string)
}

// Journal is a Disk that is open. It implements journal.Journal.
type Journal struct {
	disk *Disk
	opts Options

	// The lock of the disk guards these.
	wake     *sync.Cond
	waiting  []waiter // for groups to be durable
	busy     bool     // done functions are being called
	lent     bool     // somebody has the turn to call them
	closed   bool
	lost     bool // the disk is somebody else's
	finished chan struct{}
	failed   chan struct{}
	stats    journal.Stats
	faults   faults
}

var _ journal.Reopener = (*Journal)(nil)

// waiter is who waits for a group, or for what is there.
type waiter struct {
	at       journal.Position
	err      error
	done     journal.Done
	appended bool // a group of its own
}

// Open opens the disk. Another Journal must not have it open, journal.ErrLocked, unless Options.Term takes it over.
func (d *Disk) Open(o Options) (*Journal, error) {
	if o.Limits.GroupBytes == 0 {
		o.Limits.GroupBytes = 1 << 30
	}
	if o.Limits.GroupRecords == 0 {
		o.Limits.GroupRecords = 1 << 20
	}
	if o.Durability == "" {
		o.Durability = journal.None
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	j := &Journal{disk: d, opts: o, finished: make(chan struct{}), failed: make(chan struct{}),
		wake: sync.NewCond(&d.mu)}
	switch {
	case o.ReadOnly:
		go j.run()
		return j, nil
	case o.Term != 0 && o.Term <= d.term:
		return nil, fmt.Errorf("%w: term %d follows %d", journal.ErrLost, o.Term, d.term)
	case o.Term == 0 && d.owner != nil:
		return nil, journal.ErrLocked
	case d.owner != nil:
		d.owner.depose()
	}
	d.owner, d.loaded, d.term = j, false, max(d.term, o.Term)
	go j.run()
	return j, nil
}

// Owner is who has the disk open and may append; nil: nobody.
func (d *Disk) Owner() *Journal {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.owner
}

// Disk is what j has open.
func (j *Journal) Disk() *Disk { return j.disk }

// run makes groups durable and calls their done functions, as long as nobody has the turn to.
func (j *Journal) run() {
	defer close(j.finished)
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	for {
		for j.lent || !j.closed && (j.held() || len(j.waiting) == 0) {
			j.wake.Wait()
		}
		if len(j.waiting) == 0 {
			return
		}
		j.answer()
	}
}

// answer makes everything durable and calls the functions that wait for it. It is called with the lock and gives it up
// meanwhile.
func (j *Journal) answer() {
	ready := j.waiting
	j.waiting, j.busy = nil, true
	if j.sync(); j.lost {
		for i := range ready { // nothing of these was kept, but who has lost the log cannot know that
			ready[i].at, ready[i].err = 0, fmt.Errorf("%w: %w", journal.ErrUnknown, journal.ErrLost)
		}
	}
	j.disk.mu.Unlock()
	left := 0
	for _, w := range ready {
		if w.appended {
			left++
		}
	}
	for _, w := range ready {
		if w.appended {
			left--
		}
		w.done(w.at, w.err, left)
	}
	j.disk.mu.Lock()
	j.busy = false
	j.wake.Broadcast()
}

// owns tells whether what the journal is told concerns the disk.
func (j *Journal) owns() bool { return j.disk.owner == j }

// held tells whether nothing becomes durable now.
func (j *Journal) held() bool { return j.faults.held && !j.lost && !j.closed }

func (j *Journal) sync() {
	if j.owns() && j.disk.synced != j.disk.end {
		j.disk.synced, j.disk.flushed = j.disk.end, j.disk.end
		j.stats.Syncs++
		j.disk.tell()
	}
}

// Append implements journal.Journal.
func (j *Journal) Append(records []journal.Record, done journal.Done) error {
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	return j.append(records, done)
}

// AppendTurn implements journal.Journal. It leaves the turn to the caller whenever nobody else has it.
func (j *Journal) AppendTurn(records []journal.Record, done journal.Done) (func(), error) {
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	free := !j.faults.held && !j.lent && !j.busy && len(j.waiting) == 0
	if err := j.append(records, done); err != nil || !free {
		return nil, err
	}
	j.lent = true
	return j.turn, nil
}

func (j *Journal) turn() {
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	for j.held() {
		j.wake.Wait()
	}
	j.answer()
	j.lent = false
	j.wake.Broadcast()
}

func (j *Journal) append(records []journal.Record, done journal.Done) error {
	if err := j.takes(records); err != nil {
		return err
	}
	var p journal.Position
	var err error
	switch {
	case j.faults.losing != nil:
		err = fmt.Errorf("%w: %w", journal.ErrUnknown, j.faults.losing)
		if j.faults.keeping {
			j.add(records)
		}
		j.fail(j.faults.losing)
	case j.faults.refusing:
		err = journal.ErrRefused
	default:
		p = j.add(records)
	}
	j.waiting = append(j.waiting, waiter{p, err, done, true})
	j.wake.Broadcast()
	return nil
}

// takes tells why a group is not taken.
func (j *Journal) takes(records []journal.Record) error {
	if err := j.usable(); err != nil {
		return err
	}
	size := 0
	for i := range records {
		if size += records[i].Size(); j.faults.full && records[i].Life == journal.Lasting {
			return journal.ErrFull
		}
	}
	if l := j.opts.Limits; size > l.GroupBytes || len(records) > l.GroupRecords {
		return fmt.Errorf("%w: %d records of %d bytes; the limits are %d and %d", journal.ErrTooLarge, len(records),
			size, l.GroupRecords, l.GroupBytes)
	}
	return nil
}

// usable tells why nothing is taken any more.
func (j *Journal) usable() error {
	switch {
	case j.closed:
		return journal.ErrClosed
	case j.opts.ReadOnly:
		return fmt.Errorf("%w: opened for reading only", journal.ErrRefused)
	}
	return j.faults.broken
}

func (j *Journal) add(records []journal.Record) journal.Position {
	j.stats.Groups++
	j.stats.Records += uint64(len(records))
	for i := range records {
		j.stats.Bytes += uint64(records[i].Size())
	}
	return j.disk.add(records)
}

// Write implements journal.Journal.
func (j *Journal) Write(records []journal.Record) error {
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	if err := j.takes(records); err != nil {
		return err
	}
	j.add(records)
	return nil
}

// Flush implements journal.Journal.
func (j *Journal) Flush() error {
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	if before := j.faults.flushing; before != nil {
		j.faults.flushing = nil
		j.disk.mu.Unlock()
		before()
		j.disk.mu.Lock()
	}
	err := j.usable()
	if err == nil {
		err = j.faults.unflushed
	}
	if err == nil {
		j.disk.flushed = j.disk.end
	}
	return err
}

// Sync implements journal.Journal.
func (j *Journal) Sync(ctx context.Context) error {
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	if err := j.usable(); err != nil || !j.faults.held {
		j.sync()
		return err
	}
	synced := make(chan error, 1)
	j.waiting = append(j.waiting, waiter{0, nil, func(_ journal.Position, err error, _ int) { synced <- err }, false})
	j.disk.mu.Unlock()
	defer j.disk.mu.Lock()
	select {
	case err := <-synced:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// End implements journal.Journal.
func (j *Journal) End() journal.Position {
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	return j.disk.end
}

// Release implements journal.Journal.
func (j *Journal) Release(addrs ...journal.Address) {
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	for _, a := range addrs {
		if k := j.disk.find(a); k != nil && k.Life == journal.Lasting && j.owns() {
			if k.released {
				j.strictly("record %d of group %d is released twice", a.Index, a.Position)
			}
			j.disk.release(k)
		}
	}
}

func (j *Journal) strictly(format string, args ...any) {
	if j.opts.Strict != nil {
		j.opts.Strict(fmt.Sprintf(format, args...))
	}
}

// ReleaseBefore implements journal.Journal.
func (j *Journal) ReleaseBefore(p journal.Position) {
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	for _, g := range j.disk.groups {
		if g.position >= p || !j.owns() {
			return
		}
		for i := range g.records {
			j.disk.release(&g.records[i])
		}
	}
}

// Keep implements journal.Journal.
func (j *Journal) Keep(live iter.Seq[journal.Address]) {
	keep := map[journal.Address]bool{}
	for a := range live { // without the lock: whoever makes the list may read
		if keep[a] {
			j.strictly("record %d of group %d is kept twice", a.Index, a.Position)
		}
		keep[a] = true
	}
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	if !j.owns() {
		return
	}
	for a := range keep {
		if k := j.disk.find(a); k != nil && k.released {
			j.strictly("record %d of group %d is kept after it was released", a.Index, a.Position)
		}
	}
	for _, g := range j.disk.groups {
		for i := range g.records {
			if !keep[journal.Address{Position: g.position, Index: uint32(i)}] {
				j.disk.release(&g.records[i])
			}
		}
	}
	j.disk.loaded = true
}

// SaveCheckpoint implements journal.Journal.
func (j *Journal) SaveCheckpoint(_ context.Context, at journal.Position, write func(io.Writer) error) error {
	j.disk.mu.Lock()
	end, err := j.disk.end, j.usable()
	j.disk.mu.Unlock()
	if err != nil {
		return err
	}
	if at > end {
		return fmt.Errorf("a checkpoint at %d is behind the end of the log, %d", at, end)
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	if err := j.usable(); err != nil {
		return err
	}
	if at > j.disk.synced {
		j.strictly("a checkpoint at %d, of what is not durable", at)
	}
	j.disk.saved = append(slices.DeleteFunc(j.disk.saved, func(c checkpoint) bool { return c.damaged }),
		checkpoint{at: at, content: b.Bytes()})
	j.disk.saved = j.disk.saved[max(0, len(j.disk.saved)-2):]
	j.stats.CheckpointBytes += uint64(b.Len())
	if !j.opts.KeepAll {
		j.disk.reclaim()
	}
	return nil
}

// LoadCheckpoint implements journal.Journal.
func (j *Journal) LoadCheckpoint(context.Context) (at journal.Position, r io.ReadCloser, skipped []error, err error) {
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	for _, c := range slices.Backward(j.disk.saved) {
		if !c.damaged {
			return c.at, io.NopCloser(bytes.NewReader(c.content)), skipped, nil
		}
		skipped = append(skipped, &journal.DamageError{Where: fmt.Sprintf("memory, checkpoint at %d", c.at),
			What: "a flipped bit"})
	}
	if len(skipped) > 0 {
		return 0, nil, skipped, errors.Join(skipped...)
	}
	return 0, nil, nil, journal.ErrNoCheckpoint
}

// Info implements journal.Journal.
func (j *Journal) Info() journal.Info {
	return journal.Info{Durability: j.opts.Durability, Limits: j.opts.Limits, Where: "memory"}
}

// Stats implements journal.Journal.
func (j *Journal) Stats() journal.Stats {
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	s := j.stats
	s.LiveBytes, s.TotalBytes = j.disk.live, j.disk.total
	if n := len(j.disk.saved); n > 0 {
		s.Checkpoint = j.disk.saved[n-1].at
	}
	return s
}

// Failed implements journal.Journal.
func (j *Journal) Failed() <-chan struct{} { return j.failed }

// Health implements journal.Journal.
func (j *Journal) Health() error {
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	switch err := j.usable(); {
	case err != nil:
		return err
	case j.faults.full:
		return journal.ErrFull
	case j.faults.refusing:
		return journal.ErrRefused
	case j.faults.held && len(j.waiting) > 0:
		return journal.ErrStalled
	}
	return nil
}

// Reopen implements journal.Reopener.
func (j *Journal) Reopen(context.Context) (journal.Journal, error) {
	_ = j.Close() // which has nothing to say
	j.disk.mu.Lock()
	failed, not := j.faults.broken, j.faults.reopening
	j.disk.mu.Unlock()
	if failed != nil && !errors.Is(failed, journal.ErrReopen) {
		return nil, failed
	}
	if not != nil {
		return nil, not
	}
	next, err := j.disk.Open(j.opts)
	if err != nil {
		return nil, err
	}
	return next, nil
}

// Close implements journal.Journal.
func (j *Journal) Close() error {
	j.disk.mu.Lock()
	again := j.closed
	j.closed = true
	j.wake.Broadcast()
	j.disk.mu.Unlock()
	<-j.finished
	if !again {
		j.disk.mu.Lock()
		if j.sync(); j.owns() {
			j.disk.owner = nil
		}
		j.disk.tell()
		j.disk.mu.Unlock()
	}
	return nil
}
