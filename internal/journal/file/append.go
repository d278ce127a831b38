package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// pooledBytes is the largest encoding buffer that is kept for later groups. A larger group is written by its own
// append.
const pooledBytes = unwrittenBytes

// Append implements journal.Journal.
func (j *Journal) Append(records []journal.Record, done journal.Done) error {
	_, err := j.append(records, done, false)
	return err
}

// AppendTurn implements journal.Journal.
func (j *Journal) AppendTurn(records []journal.Record, done journal.Done) (turn func(), err error) {
	return j.append(records, done, true)
}

// append is Append, and AppendTurn where the caller takes turns.
func (j *Journal) append(records []journal.Record, done journal.Done, takes bool) (turn func(),
	err error) {
	if err := j.acceptable(records); err != nil {
		return nil, err
	}
	j.slots <- struct{}{} // whoever holds one is on the way to the grouper, which always empties
	if turn, err = j.put(records, done, takes); err != nil {
		<-j.slots
		return nil, fmt.Errorf("append %d records to journal %s: %w", len(records), j.dir, err)
	}
	return turn, nil
}

// Write implements journal.Journal.
func (j *Journal) Write(records []journal.Record) error {
	if err := j.acceptable(records); err != nil {
		return err
	}
	if _, err := j.put(records, nil, false); err != nil {
		return fmt.Errorf("write %d records to journal %s: %w", len(records), j.dir, err)
	}
	return nil
}

// acceptable refuses what no journal of these options takes.
func (j *Journal) acceptable(records []journal.Record) error {
	if j.opts.ReadOnly {
		return fmt.Errorf("%w: %s was opened for reading only", journal.ErrRefused, j.dir)
	}
	if len(records) > maxGroupRecords {
		return fmt.Errorf("%w: %d records, at most %d", journal.ErrTooLarge, len(records), maxGroupRecords)
	}
	size := 0
	for i := range records {
		size += records[i].Size()
		if size > j.opts.MaxGroupBytes {
			return fmt.Errorf("%w: the first %d of %d records have %d bytes, a group at most %d", journal.ErrTooLarge,
				i+1, len(records), size, j.opts.MaxGroupBytes)
		}
	}
	return nil
}

// put takes a group for its place in the log, or gives it one at once. When somebody waits for it (done is not nil) a
// nil error means that done will be called; takes: he takes a turn.
func (j *Journal) put(records []journal.Record, done journal.Done, takes bool) (turn func(), err error) {
	if j.closed.Load() {
		return nil, journal.ErrClosed
	}
	if err := j.failed(); err != nil {
		return nil, err
	}
	if n := groupBytes(records); n > pooledBytes {
		if done != nil && recordBytes(records) > journal.SmallGroup {
			if turn, taken := j.takeLarge(n, records, done, takes); taken {
				return turn, nil
			}
		}
		j.large.Lock()
		defer j.large.Unlock()
		return j.putNow(encode(nil, kindRecords, records), done, takes)
	}
	buffer := j.buffers.Get().(*[]byte)
	defer j.buffers.Put(buffer)
	*buffer = encode(*buffer, kindRecords, records)
	lasting := someLasting(records)
	if done != nil || !lasting {
		if turn, taken := j.take(*buffer, lasting, done, takes); taken {
			return turn, nil
		}
	}
	return j.putNow(*buffer, done, takes)
}

// putNow gives an encoded group its place, for which room is made on the disk if it has to be. One that nobody waits
// for, a large one, and one that fills the buffer are written at once.
func (j *Journal) putNow(group []byte, done journal.Done, takes bool) (turn func(), err error) {
	j.lockWhole()
	defer j.unlockWhole()
	if j.closed.Load() {
		return nil, journal.ErrClosed
	}
	if err := j.failed(); err != nil {
		return nil, err
	}
	if j.heldBack > 0 || j.placing.why != nil { // they come first
		if err := errors.Join(j.flush(), j.placing.why); err != nil {
			return nil, err
		}
	}
	n := int64(len(group))
	lasting := lastingRecords(group)
	if err := j.makeRoom(n, lasting > 0); err != nil {
		return nil, err // nothing was kept
	}
	if n > pooledBytes {
		if err := j.flush(); err != nil {
			return nil, err // nothing was kept of this one
		}
	}
	g := incoming{bytes: n, number: j.intake.number, waits: done != nil, direct: true}
	j.account(j.add(group, g), group, lasting)
	if done != nil {
		turn = j.enqueue(done, true, takes)
	}
	if done == nil && j.opts.Durability != journal.None || len(j.unwritten.bytes) >= unwrittenBytes {
		err := j.flush()
		switch {
		case done != nil: // told through done
		case j.failed() != nil:
			return nil, fmt.Errorf("%w: %w", journal.ErrUnknown, err)
		default:
			return nil, err
		}
	}
	return turn, nil
}

func someLasting(records []journal.Record) bool {
	return slices.ContainsFunc(records, func(r journal.Record) bool { return r.Life == journal.Lasting })
}

// recordBytes is what records count against MaxGroupBytes.
func recordBytes(records []journal.Record) (n int) {
	for i := range records {
		n += records[i].Size()
	}
	return n
}

// add puts an encoded group at the end of the tail, where there is room for it, and into the buffer that is written
// next. mu is held.
func (j *Journal) add(group []byte, g incoming) journal.Position {
	s := j.tail
	at := s.at(s.end)
	place(group, s.generation, at, journal.Position(j.durable.Load()))
	j.unwritten.add(group, before{end: s.end, ended: s.ended, totals: s.totals, last: j.last, owner: j.end.Load(),
		number: g.number, keep: !g.waits && !g.direct})
	s.end += int64(len(group))
	s.ended = kind(binary.LittleEndian.Uint32(group[24:])) == kindEnd
	j.last = at
	j.nextWaiter = max(j.nextWaiter, g.number)
	if g.waits {
		j.nextWaiter = g.number + 1
		j.placing.at = append(j.placing.at, placed{g.number, at})
	}
	return at
}

// addOwn adds a group of the journal's own.
func (j *Journal) addOwn(group []byte) { j.add(group, incoming{number: j.nextWaiter, direct: true}) }

// account counts a group of the owner's that was added at a place, with so many lasting records. mu is held.
func (j *Journal) account(at journal.Position, group []byte, lasting uint64) {
	s := j.tail
	offset := s.offset(at)
	if half := s.size / 2; offset < half && s.end >= half || s.end >= s.wake {
		s.wake = s.end + s.step()
		j.wakeKeeper() // for the spare after this one, and for zeros ahead
	}
	records := uint64(binary.LittleEndian.Uint32(group[28:]))
	s.totals.groups++
	s.totals.records += records
	s.totals.last = at
	if lasting > 0 {
		s.totals.lasting += lasting
		j.liveMu.Lock()
		for i := range records {
			if life, size := entryOf(group, i); life == journal.Lasting {
				s.totals.lastingBytes += size
				s.live.set(slot(offset, uint32(i)), s.size)
			}
		}
		j.liveMu.Unlock()
	}
	j.end.Store(uint64(at))
	j.count.groups.Add(1)
	j.count.records.Add(records)
	j.count.bytes.Add(uint64(len(group)))
}

// lastingRecords is how many records of an encoded group are lasting ones.
func lastingRecords(group []byte) (n uint64) {
	for i := range uint64(binary.LittleEndian.Uint32(group[28:])) {
		if life, _ := entryOf(group, i); life == journal.Lasting {
			n++
		}
	}
	return n
}

// entryOf is the life and the size of a record of an encoded group.
func entryOf(group []byte, i uint64) (life journal.Life, size uint64) {
	e := group[groupHeaderBytes+entryBytes*i:][:entryBytes]
	return journal.Life(binary.LittleEndian.Uint32(e[4:])),
		uint64(binary.LittleEndian.Uint32(e[16:])) + uint64(binary.LittleEndian.Uint32(e[20:]))
}
