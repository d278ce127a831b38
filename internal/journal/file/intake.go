package file

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// intake holds groups that have their order and not yet a place. An append only puts its group here: it does not wait
// for the disk, so its caller may hold a lock. Whoever writes next gives all of them their places. A group is taken
// only while room for it is certain, so that it need not be refused later. One that may need a new segment gets its
// place at once instead (see putNow).
type intake struct {
	mu     sync.Mutex // taken behind Journal.mu
	bytes  []byte     // the groups, encoded, one behind the other, but for large ones
	large  int64      // bytes that these will have
	groups []incoming
	number uint64 // of the next waiter

	// How many bytes of groups have certain room, those counted that have no place yet: of passing records, and of
	// lasting ones, which leave the reserve alone.
	passing, lasting atomic.Int64
	placing          int64 // bytes that left the intake and are getting their places

	written atomic.Uint64 // groups that nobody waits for, in all
}

// incoming is a group of the intake.
type incoming struct {
	bytes  int64
	number uint64 // of its waiter, or of the next one when nobody waits for it
	waits  bool
	direct bool // it did not come by the intake

	records []journal.Record // of a large group, which is encoded when it gets its place
}

// take puts an encoded group into the intake, unless room for it is not certain. A done that is nil means that nobody
// waits for it. takes: the caller takes a turn.
func (j *Journal) take(group []byte, lasting bool, done journal.Done, takes bool) (turn func(), taken bool) {
	in := &j.intake
	in.mu.Lock()
	defer in.mu.Unlock()
	n := int64(len(group))
	if int64(len(in.bytes))+n > unwrittenBytes || !j.certain(n, lasting) {
		return nil, false
	}
	in.bytes = append(in.bytes, group...)
	in.groups = append(in.groups, incoming{bytes: n, number: in.number, waits: done != nil})
	if done == nil {
		in.written.Add(1)
		return nil, true
	}
	return j.enqueue(done, true, takes), true
}

// takeLarge is take for a group that is not encoded yet, of n bytes. The bodies are the caller's until done is called.
func (j *Journal) takeLarge(n int64, records []journal.Record, done journal.Done, takes bool) (turn func(),
	taken bool) {
	in := &j.intake
	in.mu.Lock()
	defer in.mu.Unlock()
	if !j.certain(n, someLasting(records)) {
		return nil, false
	}
	own := slices.Clone(records)
	for i := range own {
		own[i].Head = bytes.Clone(own[i].Head)
	}
	in.large += n
	in.groups = append(in.groups, incoming{bytes: n, number: in.number, waits: true, records: own})
	return j.enqueue(done, true, takes), true
}

// certain tells whether there is room for n bytes more, whatever becomes of what came before. The lock of the intake is
// held.
func (j *Journal) certain(n int64, lasting bool) bool {
	in, room := &j.intake, &j.intake.passing
	if lasting {
		room = &in.lasting
	}
	return in.placing+int64(len(in.bytes))+in.large+n <= room.Load() && !j.closed.Load()
}

// tellRoom lets the intake know for how much there is room: what makeRoom grants without the disk. That is the rest of
// the tail, or as much as fits into one segment when a spare may be used, for then at most one segment is begun. mu is
// held.
func (j *Journal) tellRoom() {
	passing, lasting := int64(0), int64(0)
	switch {
	case j.tail == nil: // opened for reading only
	case j.heldBack > 0 || j.placing.why != nil: // nothing is certain: what nobody waits for waits in memory
		passing = max(0, unwrittenBytes-int64(len(j.unwritten.bytes)))
	default:
		rest := j.tail.size - j.tail.end - 2*sealBytes // the keeper may seal the log meanwhile
		whole := max(rest, j.opts.SegmentBytes-segmentHeaderBytes-sealBytes)
		passing = rest
		if len(j.spares) > 0 {
			passing = whole
		}
		switch {
		case len(j.spares) > reserveSegments:
			lasting = whole
		case len(j.spares) == reserveSegments:
			lasting = rest
		}
	}
	j.intake.passing.Store(passing)
	j.intake.lasting.Store(lasting)
}

// placeTaken gives the groups of the intake their places, and lets it take others meanwhile. mu is held.
func (j *Journal) placeTaken() {
	in := &j.intake
	in.mu.Lock()
	if len(in.groups) == 0 {
		in.mu.Unlock()
		return
	}
	in.placing = j.emptyIntake()
	in.mu.Unlock()
	j.placing.place(j)
	in.mu.Lock()
	in.placing = 0
	j.putBack()
	j.tellRoom()
	in.mu.Unlock()
}

// lockWhole takes the locks of the log's order and of the intake, with no group on the way to its place: what the room
// was certain for may be used for something else until unlockWhole.
func (j *Journal) lockWhole() {
	j.mu.Lock()
	j.placeTaken()
	j.intake.mu.Lock()
	if len(j.intake.groups) > 0 { // they came meanwhile
		j.emptyIntake()
		j.placing.place(j)
		j.putBack()
	}
}

func (j *Journal) unlockWhole() {
	j.tellRoom()
	j.intake.mu.Unlock()
	j.mu.Unlock()
}

// emptyIntake takes everything out of the intake, and tells how many bytes the groups will have. Both locks are held.
func (j *Journal) emptyIntake() (n int64) {
	in, p := &j.intake, &j.placing
	n, in.large = int64(len(in.bytes))+in.large, 0
	in.bytes, p.bytes = p.bytes[:0], in.bytes
	in.groups, p.groups = p.groups[:0], in.groups
	p.written = in.written.Load()
	return n
}

// putBack puts the groups that got no places back into the intake, before those that came meanwhile. Both locks are
// held.
func (j *Journal) putBack() {
	in, p := &j.intake, &j.placing
	if len(p.left) > 0 {
		in.bytes = append(p.leftBytes, in.bytes...)
		in.groups = append(p.left, in.groups...)
		p.leftBytes, p.left = nil, nil
	}
}

// placing is groups that left the intake and are getting their places. Journal.mu guards it.
type placing struct {
	bytes   []byte
	groups  []incoming
	written uint64   // of intake.written: those that have places, once place returns
	at      []placed // from next on: of waiters who are not answered yet
	next    int

	left      []incoming // those that got no places
	leftBytes []byte
	why       error // as the last of them was told; nil: none is left
}

// placed is the place that the group of a waiter got.
type placed struct {
	number uint64
	at     journal.Position
}

// place gives all groups their places. One that gets none, and those behind it, are refused, if anybody waits for them.
// What nobody waits for was said to be kept: it is left, and tried again.
func (p *placing) place(j *Journal) {
	rest := p.bytes
	p.why = nil
	for _, g := range p.groups {
		var group []byte
		if g.records == nil {
			group, rest = rest[:g.bytes], rest[g.bytes:]
		}
		if j.failed() != nil { // told by the sync that comes next
			return
		}
		err := p.why
		if err == nil && g.records != nil { // one at a time, and alone in the buffer
			if err = j.flush(); err == nil {
				group = encode(nil, kindRecords, g.records)
			}
		}
		lasting := uint64(0)
		if err == nil {
			lasting = lastingRecords(group)
			err = j.makeRoom(g.bytes, lasting > 0)
		}
		switch {
		case err == nil:
			j.account(j.add(group, g), group, lasting)
		case g.waits:
			j.refuse(g.number, g.number+1, err)
		default:
			p.why = err
			p.left, p.leftBytes = append(p.left, g), append(p.leftBytes, group...)
		}
		if len(j.unwritten.bytes) >= unwrittenBytes {
			_ = j.flush() // whom it concerns is told by the sync that comes next
		}
	}
	j.placedWrites = p.written - uint64(len(p.left))
	clear(p.groups) // of records of large ones
	if cap(p.bytes) > 2*unwrittenBytes {
		p.bytes = nil
	}
}

// take returns the place of the group of a waiter, who follows those that were asked for before; 0: it got none.
func (p *placing) take(number uint64) (at journal.Position) {
	for ; p.next < len(p.at) && p.at[p.next].number <= number; p.next++ {
		if p.at[p.next].number == number {
			at = p.at[p.next].at
		}
	}
	if p.next == len(p.at) {
		p.at, p.next = p.at[:0], 0
	}
	return at
}

// Flush implements journal.Journal.
func (j *Journal) Flush() error {
	if j.opts.Durability == journal.None || j.flushedWrites.Load() >= j.intake.written.Load() {
		return j.usable()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.write(); err != nil && j.behind(err) != nil {
		return fmt.Errorf("write to journal %s: %w", j.dir, err)
	}
	return nil
}

// write gives everything that was appended a place, and writes it. mu is held.
func (j *Journal) write() error {
	j.placeTaken()
	if err := j.failed(); err != nil { // what was taken may have no place
		return err
	}
	return errors.Join(j.flush(), j.placing.why)
}

// behind is err, unless that concerns only those who are told otherwise: all that was said to be kept is in the file.
// mu is held.
func (j *Journal) behind(err error) error {
	if errors.Is(err, journal.ErrFull) && j.heldBack == 0 && j.placing.why == nil {
		return nil
	}
	return err
}
