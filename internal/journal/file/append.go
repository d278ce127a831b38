package file

import (
	"encoding/binary"
	"fmt"

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

// put gives a group its place. When somebody waits for it (done is not nil) a nil error means that done will be called;
// takes: he takes a turn.
func (j *Journal) put(records []journal.Record, done journal.Done, takes bool) (turn func(),
	err error) {
	n := groupBytes(records)
	var group []byte
	if n <= pooledBytes {
		buffer := j.buffers.Get().(*[]byte)
		defer j.buffers.Put(buffer)
		*buffer = encode(*buffer, kindRecords, records)
		group = *buffer
	} else {
		j.large.Lock()
		defer j.large.Unlock()
		group = encode(nil, kindRecords, records)
	}

	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed.Load() {
		return nil, journal.ErrClosed
	}
	if err := j.failed(); err != nil {
		return nil, err
	}
	lasting := 0
	for i := range records {
		if records[i].Life == journal.Lasting {
			lasting++
		}
	}
	if err := j.makeRoom(n, lasting > 0); err != nil {
		return nil, err // nothing was kept
	}
	if n > pooledBytes {
		if err := j.flush(); err != nil {
			return nil, err // nothing was kept of this one
		}
	}
	at := j.add(group)
	j.account(at, n, records, lasting)
	if done != nil {
		turn = j.enqueue(at, done, takes)
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

// add puts any encoded group at the end of the tail, where there is room for it, and into the buffer that is
// written next. mu is held.
func (j *Journal) add(group []byte) journal.Position {
	s := j.tail
	at := s.at(s.end)
	place(group, s.generation, at, journal.Position(j.durable.Load()))
	j.unwritten.add(group, before{end: s.end, ended: s.ended, totals: s.totals, last: j.last, owner: j.end.Load(),
		number: j.number})
	s.end += int64(len(group))
	s.ended = kind(binary.LittleEndian.Uint32(group[24:])) == kindEnd
	j.last = at
	return at
}

// account counts a group of the owner's that was added at a place. mu is held.
func (j *Journal) account(at journal.Position, n int64, records []journal.Record, lasting int) {
	s := j.tail
	offset := s.offset(at)
	if half := s.size / 2; offset < half && s.end >= half || s.end >= s.wake {
		s.wake = s.end + s.step()
		j.wakeKeeper() // for the spare after this one, and for zeros ahead
	}
	s.totals.groups++
	s.totals.records += uint64(len(records))
	s.totals.last = at
	if lasting > 0 {
		s.totals.lasting += uint64(lasting)
		j.liveMu.Lock()
		for i := range records {
			if r := &records[i]; r.Life == journal.Lasting {
				s.totals.lastingBytes += uint64(r.Size())
				s.live.set(slot(offset, uint32(i)), s.size)
			}
		}
		j.liveMu.Unlock()
	}
	j.end.Store(uint64(at))
	j.count.groups.Add(1)
	j.count.records.Add(uint64(len(records)))
	j.count.bytes.Add(uint64(n))
}
