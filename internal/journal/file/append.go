package file

import (
	"encoding/binary"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// pooledBytes is the largest encoding buffer that is kept for later groups.
const pooledBytes = 1 << 20

// Append implements journal.Journal.
func (j *Journal) Append(records []journal.Record, done func(journal.Position, error)) error {
	if err := j.acceptable(records); err != nil {
		return err
	}
	j.slots <- struct{}{} // whoever holds one is on the way to the grouper, which always empties
	if err := j.put(records, done); err != nil {
		<-j.slots
		return fmt.Errorf("append %d records to journal %s: %w", len(records), j.dir, err)
	}
	return nil
}

// Write implements journal.Journal.
func (j *Journal) Write(records []journal.Record) error {
	if err := j.acceptable(records); err != nil {
		return err
	}
	if err := j.put(records, nil); err != nil {
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
			return fmt.Errorf("%w: the first %d of %d records have %d bytes, a group at most %d", journal.ErrTooLarge, i+1, len(records), size, j.opts.MaxGroupBytes)
		}
	}
	return nil
}

// put gives a group its place. When somebody waits for it (done is not nil) a nil error means that done will be called.
func (j *Journal) put(records []journal.Record, done func(journal.Position, error)) error {
	n := groupBytes(records)
	buffer := j.buffers.Get().(*[]byte)
	defer j.buffers.Put(buffer)
	var group []byte
	if n <= pooledBytes {
		*buffer = encode(*buffer, kindRecords, records)
		group = *buffer
	} else {
		j.large.Lock()
		defer j.large.Unlock()
		group = encode(nil, kindRecords, records)
	}

	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return journal.ErrClosed
	}
	if err := j.failed(); err != nil {
		return err
	}
	at, err := j.write(group, records)
	switch {
	case err != nil && j.failed() == nil:
		return err // nothing was kept
	case err != nil:
		err = fmt.Errorf("%w: %w", journal.ErrUnknown, err)
		if done == nil {
			return err
		}
	default:
		j.count.groups.Add(1)
		j.count.records.Add(uint64(len(records)))
		j.count.bytes.Add(uint64(n))
	}
	if done == nil {
		return nil
	}
	// It has room for every slot, and is closed only after closed was set: an error cannot be, but must not be lost.
	if err := j.waiting.Post(waiter{at, done, err}); err != nil {
		return j.fail(err)
	}
	return nil
}

// write gives an encoded group of the owner's the next place and writes it there. mu is held. When it fails and the
// journal has not failed, nothing was kept.
func (j *Journal) write(group []byte, records []journal.Record) (journal.Position, error) {
	lasting := 0
	for i := range records {
		if records[i].Life == journal.Lasting {
			lasting++
		}
	}
	if err := j.makeRoom(int64(len(group)), lasting > 0); err != nil {
		return 0, err
	}
	s := j.tail
	offset := s.end
	at, err := j.writeGroup(group)
	if err != nil {
		return at, err
	}
	if half := s.size / 2; offset < half && s.end >= half {
		j.wakeKeeper() // for the spare after this one
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
	return at, nil
}

// writeGroup writes any group at the end of the tail, where there is room for it. mu is held.
func (j *Journal) writeGroup(group []byte) (journal.Position, error) {
	s := j.tail
	at := s.at(s.end)
	place(group, s.generation, at, journal.Position(j.durable.Load()))
	if j.opts.Durability == journal.None {
		j.unwritten = append(j.unwritten, group...)
	} else if _, err := s.f.WriteAt(group, s.end); err != nil {
		if !fullError(err) {
			return at, j.fail(fmt.Errorf("write %d bytes at %d of %s: %w", len(group), s.end, s.name, err))
		}
		// What got there has no sound end, and the next group overwrites its beginning.
		return 0, fmt.Errorf("%w: %w", journal.ErrFull, err)
	}
	s.end += int64(len(group))
	if err := j.writeAhead(s, int64(len(group))); err != nil {
		return at, j.fail(err)
	}
	s.ended = kind(binary.LittleEndian.Uint32(group[24:])) == kindEnd
	j.last = at
	if len(j.unwritten) >= unwrittenBytes {
		return at, j.flush()
	}
	return at, nil
}

const (
	aheadBytes = 512 << 10 // zeros written ahead of the log at a time
	aheadBelow = 64 << 10  // only while a sync has less than this to write
)

// writeAhead writes zeros behind the end of the tail now and then. A block that was allocated but never written costs
// the sync that first writes it a change of the file's metadata; with small groups that is most of the sync. Where each
// sync has much to write it would only cost bandwidth, and is left out. mu is held.
func (j *Journal) writeAhead(s *segment, appended int64) error {
	j.unsynced += appended
	if s.end <= s.written || j.opts.Durability != journal.Fsync {
		return nil
	}
	s.written = s.end
	n := min(aheadBytes, s.size-s.end)
	if j.unsynced >= aheadBelow || n == 0 {
		return nil
	}
	if _, err := s.f.WriteAt(zeros[:n], s.end); err != nil && !fullError(err) {
		return fmt.Errorf("write zeros ahead at %d of %s: %w", s.end, s.name, err)
	}
	s.written = s.end + n
	return nil
}

// zeros is never written to.
var zeros [aheadBytes]byte
