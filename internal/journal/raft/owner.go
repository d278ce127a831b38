package raft

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// owner is the log as the store on the node that owns it has it. The replica's lock guards what changes.
type owner struct {
	r      *Replica
	term   uint64
	limits journal.Limits
	closed bool
	lost   error // why nothing is taken any more
	failed chan struct{}

	end     uint64 // of the last group that has one
	durable uint64
	stats   journal.Stats

	keeping sync.WaitGroup // Keep's work
}

var _ journal.Journal = (*owner)(nil)

// Own waits until this node leads, and opens the log for the one who appends to it. term is the leader's: it rises from
// owner to owner. The log that is open already is journal.ErrLocked.
func (r *Replica) Own(ctx context.Context) (j journal.Journal, term uint64, err error) {
	defer context.AfterFunc(ctx, r.tell)()
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		switch {
		case r.failure != nil:
			return nil, 0, r.failure
		case ctx.Err() != nil:
			return nil, 0, ctx.Err()
		case r.owner != nil && r.owner.lost == nil:
			return nil, 0, journal.ErrLocked
		}
		if r.ready && time.Now().Before(r.held) {
			break
		}
		r.news.Wait()
	}
	end := r.log.end()
	o := &owner{r: r, term: r.term, failed: make(chan struct{}), end: end, durable: end, limits: r.log.limits()}
	r.owner = o
	return o, o.term, nil
}

// limits are those of a group: of the local journal's, without what an entry needs besides. Its mark takes a record.
func (l *log) limits() journal.Limits {
	limits := l.journal().Info().Limits
	return journal.Limits{GroupBytes: limits.GroupBytes - markBytes, GroupRecords: limits.GroupRecords - 1}
}

// lose ends an owner. The lock is held.
func (o *owner) lose(err error) {
	if o.lost == nil {
		o.lost = err
		close(o.failed)
	}
}

// usable tells why nothing is taken. The lock is held.
func (o *owner) usable() error {
	if o.closed {
		return journal.ErrClosed
	}
	return o.lost
}

// Append implements journal.Journal.
func (o *owner) Append(records []journal.Record, done journal.Done) error {
	return o.add(records, done)
}

// AppendTurn implements journal.Journal. The replica syncs by itself: nobody gets a turn.
func (o *owner) AppendTurn(records []journal.Record, done journal.Done) (func(), error) {
	return nil, o.add(records, done)
}

// Write implements journal.Journal.
func (o *owner) Write(records []journal.Record) error { return o.add(records, nil) }

func (o *owner) add(records []journal.Record, done journal.Done) error {
	size, lasting := 0, false
	for i := range records {
		size += records[i].Size()
		lasting = lasting || records[i].Life == journal.Lasting
	}
	if l := o.limits; size > l.GroupBytes || len(records) > l.GroupRecords {
		return fmt.Errorf("%w: %d records of %d bytes; the limits are %d and %d", journal.ErrTooLarge, len(records),
			size, l.GroupRecords, l.GroupBytes)
	}
	p := &proposal{data: encodeGroup(records), done: done, owner: o}
	r := o.r
	r.mu.Lock()
	defer r.mu.Unlock()
	b := &r.inbox
	for done != nil && o.usable() == nil && b.groups > 0 &&
		(b.groups >= pendingGroups || b.amount+p.cost() > r.o.PendingBytes) {
		r.news.Wait()
	}
	if err := o.usable(); err != nil {
		return err
	}
	if lasting && errors.Is(r.full, journal.ErrFull) {
		return r.full
	}
	if done == nil && b.groups > 0 && b.amount+p.cost() > 2*r.o.PendingBytes {
		return fmt.Errorf("%w: %d groups are not on most nodes yet", journal.ErrRefused, b.groups)
	}
	b.pending = append(b.pending, p)
	b.amount += p.cost()
	b.groups++
	o.stats.Groups++
	o.stats.Records += uint64(len(records))
	o.stats.Bytes += uint64(size)
	switch {
	case done != nil:
		r.wakeUp()
	case !b.lingering:
		b.lingering = true
		time.AfterFunc(linger, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			b.lingering, b.flush = false, true
			r.wakeUp()
		})
	}
	return nil
}

// hurry lets go what nobody waits for. The lock is held.
func (o *owner) hurry() {
	o.r.inbox.flush = true
	o.r.wakeUp()
}

// Flush implements journal.Journal: what was written is on its way to the other nodes, and this one has the log still.
// So nothing is handed out by a node that has lost it: it waits for its lease.
func (o *owner) Flush() error {
	r := o.r
	r.mu.Lock()
	defer r.mu.Unlock()
	for o.usable() == nil && !time.Now().Before(r.held) {
		r.news.Wait() // the others answer, or the log is lost
	}
	return o.usable()
}

// Sync implements journal.Journal.
func (o *owner) Sync(ctx context.Context) error {
	defer context.AfterFunc(ctx, o.r.tell)()
	r := o.r
	r.mu.Lock()
	defer r.mu.Unlock()
	o.hurry()
	before := o.stats.Groups
	for o.usable() == nil && ctx.Err() == nil && o.stats.Groups-uint64(r.inbox.groups) < before {
		r.news.Wait()
	}
	if err := o.usable(); err != nil {
		return err
	}
	return ctx.Err()
}

// settled waits until every group that was taken has its place. The lock is held.
func (o *owner) settled() {
	before := o.stats.Groups
	if len(o.r.inbox.pending) > 0 {
		o.hurry()
	}
	for o.lost == nil && o.stats.Groups-uint64(o.r.inbox.groups) < before {
		o.r.news.Wait()
	}
}

// End implements journal.Journal.
func (o *owner) End() journal.Position {
	o.r.mu.Lock()
	defer o.r.mu.Unlock()
	o.settled()
	return journal.Position(o.end)
}

// Read implements journal.Journal.
func (o *owner) Read(ctx context.Context, addrs []journal.Address, each func(int, journal.Record, error)) error {
	if err := o.open(); err != nil {
		return err
	}
	var damage error
	err := o.r.log.Read(ctx, addrs, func(i int, r journal.Record, err error) {
		if err != nil {
			if bad := o.r.sound(err); !errors.Is(bad, err) {
				damage, err = bad, bad
			}
		}
		each(i, r, err)
	})
	return errors.Join(err, damage)
}

// open tells whether the journal has not been closed. Who has lost the log may read it still.
func (o *owner) open() error {
	o.r.mu.Lock()
	defer o.r.mu.Unlock()
	if o.closed {
		return journal.ErrClosed
	}
	return nil
}

// Scan implements journal.Journal.
func (o *owner) Scan(ctx context.Context, from journal.Position) iter.Seq2[journal.Group, error] {
	err := o.open()
	last := uint64(0)
	if err == nil {
		o.r.mu.Lock()
		o.settled()
		last = o.durable
		o.r.mu.Unlock()
	}
	return func(yield func(journal.Group, error) bool) {
		if err != nil {
			yield(journal.Group{}, err)
			return
		}
		o.r.log.scan(ctx, uint64(from), last)(yield)
	}
}

// Follow implements journal.Journal.
func (o *owner) Follow(ctx context.Context, from journal.Position) iter.Seq2[journal.Group, error] {
	return func(yield func(journal.Group, error) bool) {
		defer context.AfterFunc(ctx, o.r.tell)()
		for {
			last, err := o.beyond(ctx, uint64(from))
			if err == nil {
				err = o.r.log.reaches(uint64(from))
			}
			if err != nil {
				yield(journal.Group{}, err)
				return
			}
			for g, err := range o.r.log.scanWhole(ctx, uint64(from), last) {
				if !yield(g, err) || err != nil {
					return
				}
			}
			from = journal.Position(last)
		}
	}
}

// beyond waits for a durable group behind an index, and returns the index of the last. Why none will come is an error.
func (o *owner) beyond(ctx context.Context, index uint64) (last uint64, err error) {
	o.r.mu.Lock()
	defer o.r.mu.Unlock()
	for o.durable <= index || ctx.Err() != nil {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := o.usable(); err != nil {
			return 0, err
		}
		if err := o.r.log.reaches(index); err != nil {
			return 0, err
		}
		o.r.news.Wait()
	}
	if o.closed {
		return 0, journal.ErrClosed
	}
	return o.durable, nil
}

// Release implements journal.Journal.
func (o *owner) Release(addrs ...journal.Address) {
	if !o.owns() {
		return
	}
	local := make([]journal.Address, 0, len(addrs))
	for _, a := range addrs {
		if at, there := o.r.log.find(a); there {
			local = append(local, at)
		}
	}
	o.r.log.journal().Release(local...)
}

func (o *owner) owns() bool {
	o.r.mu.Lock()
	defer o.r.mu.Unlock()
	return o.usable() == nil
}

// ReleaseBefore implements journal.Journal.
func (o *owner) ReleaseBefore(p journal.Position) {
	if at, there := o.r.log.first(uint64(p)); there && o.owns() {
		o.r.log.journal().ReleaseBefore(at)
	}
}

// Keep implements journal.Journal. It only notes what is live, and the rest is done after it has returned: who takes
// the log over shall not wait until what nobody needs is found among a million records.
func (o *owner) Keep(live iter.Seq[journal.Address]) {
	if !o.owns() {
		return
	}
	all, end := slices.Collect(live), o.r.log.end()
	o.keeping.Go(func() {
		slices.SortFunc(all, journal.Address.Compare)
		o.r.saving.Lock()
		defer o.r.saving.Unlock()
		if o.owns() {
			o.r.log.sweep(all, end)
		}
	})
}

// markBytes is the most that a mark takes.
const markBytes = 64

// Info implements journal.Journal.
func (o *owner) Info() journal.Info {
	i := o.r.log.journal().Info()
	return journal.Info{Durability: i.Durability, Limits: o.limits, Where: "replicated, here in " + i.Where}
}

// Stats implements journal.Journal.
func (o *owner) Stats() journal.Stats {
	s := o.r.log.journal().Stats()
	newest := o.r.log.checkpoint()
	o.r.mu.Lock()
	defer o.r.mu.Unlock()
	s.Groups, s.Records, s.Bytes = o.stats.Groups, o.stats.Records, o.stats.Bytes
	s.Checkpoint = journal.Position(newest)
	return s
}

// Failed implements journal.Journal.
func (o *owner) Failed() <-chan struct{} { return o.failed }

// Health implements journal.Journal.
func (o *owner) Health() error {
	o.r.mu.Lock()
	defer o.r.mu.Unlock()
	switch err := o.usable(); {
	case err != nil:
		return err
	case o.r.full != nil:
		return o.r.full
	case !time.Now().Before(o.r.held):
		return fmt.Errorf("%w: most of the other nodes have not answered", journal.ErrStalled)
	}
	return nil
}

// Close implements journal.Journal. The node leads on: Own opens the log again.
func (o *owner) Close() error {
	defer o.keeping.Wait()
	r := o.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if o.closed {
		return nil
	}
	o.closed = true
	o.settled()
	var err error
	if o.lost != nil && !errors.Is(o.lost, journal.ErrLost) {
		err = o.lost
	}
	if r.owner == o {
		r.owner = nil
	}
	r.news.Broadcast()
	return err
}

// SaveCheckpoint implements journal.Journal. The other nodes are sent it.
func (o *owner) SaveCheckpoint(ctx context.Context, at journal.Position, write func(io.Writer) error) error {
	if err := o.Sync(ctx); err != nil { // what it says is durable has to be so on most nodes
		return err
	}
	if end := o.End(); at > end {
		return fmt.Errorf("checkpoint at %d: the log ends at %d", at, end)
	}
	return o.r.save(ctx, uint64(at), write)
}

// LoadCheckpoint implements journal.Journal.
func (o *owner) LoadCheckpoint(ctx context.Context) (journal.Position, io.ReadCloser, []error, error) {
	if err := o.open(); err != nil {
		return 0, nil, nil, err
	}
	for before := uint64(math.MaxUint64); ; {
		_, r, skipped, err := o.r.log.journal().LoadCheckpoint(ctx)
		if err != nil {
			return 0, nil, skipped, err
		}
		h, err := readHeader(r)
		switch {
		case err != nil:
		case h.none:
			err = journal.ErrNoCheckpoint
		case !o.r.log.hasAll(h.at) && h.at == before:
			err = fmt.Errorf("%w: the checkpoint at %d is in %s, and not all that follows it", errEntry, h.at,
				o.r.log.journal().Info().Where)
		case !o.r.log.hasAll(h.at): // newer ones were saved in between
			if err := r.Close(); err != nil {
				return 0, nil, skipped, err
			}
			before = h.at
			continue
		default:
			return journal.Position(h.owner), r, skipped, nil
		}
		return 0, nil, skipped, errors.Join(err, r.Close())
	}
}
