package file

import (
	"fmt"
	"slices"

	"github.com/hikyaku/hikyaku/internal/durable"
	"github.com/hikyaku/hikyaku/internal/journal"
)

const unwrittenBytes = 1 << 20 // as much waits in memory before the append that makes it so writes it

// unwritten are the groups that have their place at the end of the tail and are not in its file yet. All of them are
// written at once: before the next sync, by the next Flush, before anybody reads them, or when there are too many.
type unwritten struct {
	bytes  []byte
	groups []before // one for each group in bytes
}

// before is what a group found when it was added, so that it can be taken back.
type before struct {
	end    int64 // of the tail: the offset of the group
	ended  bool
	totals totals
	last   journal.Position
	owner  uint64 // Journal.end
	number uint64 // of whoever waits for it, or of the next one
	keep   bool   // nobody waits for it, and it was said to be kept
}

// add takes a copy of the group; a large one, which comes alone, it keeps until the write that follows at once.
func (u *unwritten) add(group []byte, b before) {
	u.groups = append(u.groups, b)
	if len(u.bytes) == 0 && len(group) > pooledBytes {
		u.bytes = group
		return
	}
	u.bytes = append(u.bytes, group...)
}

func (u *unwritten) reset() {
	u.bytes, u.groups = u.bytes[:0], u.groups[:0]
	if cap(u.bytes) > 2*unwrittenBytes {
		u.bytes = nil
	}
}

// flush writes what waits in memory. mu is held. It fails with journal.ErrFull when groups had to be taken back: who
// waits for one is told through done.
func (j *Journal) flush() error {
	u := &j.unwritten
	if len(u.bytes) == 0 {
		return nil
	}
	if err := j.failed(); err != nil {
		return err
	}
	j.disk.begin(flushing)
	defer j.disk.end(flushing)
	s := j.tail
	from := s.end - int64(len(u.bytes))
	j.awaitZeros(s, from)
	n, err := s.f.WriteAt(u.bytes, from)
	switch {
	case err == nil:
		u.reset()
		j.lastWritten = j.last
		j.holdBack(0)
		if j.opts.Durability != journal.Fsync {
			j.news.tell()
		}
	case durable.Full(err) && j.opts.Durability != journal.None: // with none they have been answered
		err = fmt.Errorf("%w: write %d bytes at %d of %s: %w", journal.ErrFull, len(u.bytes), from, s.name, err)
		j.takeBack(from+int64(n), err)
	default:
		return j.fail(fmt.Errorf("write %d bytes at %d of %s: %w", len(u.bytes), from, s.name, err))
	}
	j.written.Store(uint64(s.at(s.end - int64(len(u.bytes)))))
	return err
}

// takeBack refuses the unwritten groups that end behind limit, up to which the file took them. The first of them has no
// sound end there, and the next group overwrites its beginning. Those that nobody waits for were said to be kept: they
// get the places there, and are written when the disk has room again. mu is held.
func (j *Journal) takeBack(limit int64, why error) {
	s, u := j.tail, &j.unwritten
	i := 0
	for i+1 < len(u.groups) && u.groups[i+1].end <= limit {
		i++
	}
	kept := u.kept(i, s.end)
	b := u.groups[i]
	j.count.groups.Add(b.totals.groups - s.totals.groups) // wraps around to less
	j.count.records.Add(b.totals.records - s.totals.records)
	j.count.bytes.Add(uint64(b.end - s.end))
	s.end, s.ended, s.totals = b.end, b.ended, b.totals
	j.last, j.lastWritten = b.last, b.last
	j.end.Store(b.owner)
	j.liveMu.Lock()
	s.live.clearFrom(slot(b.end, 0))
	j.liveMu.Unlock()
	j.refuse(b.number, j.nextWaiter, why)
	u.reset()
	for _, group := range kept {
		j.account(j.add(group, incoming{number: j.nextWaiter}), group, 0) // one with lasting records is not kept
	}
	j.holdBack(len(kept))
}

// holdBack notes how many groups wait for room on the disk; 0: all that were said to be kept are in the file. mu is
// held.
func (j *Journal) holdBack(n int) {
	if n == 0 {
		j.flushedWrites.Store(j.placedWrites)
	}
	if j.heldBack != n {
		j.heldBack = n
		j.tellRoom()
	}
}

// kept is copies of the groups from i on that are to be kept. end is that of the last one.
func (u *unwritten) kept(i int, end int64) (groups [][]byte) {
	from := u.groups[0].end
	for ; i < len(u.groups); i++ {
		to := end
		if i+1 < len(u.groups) {
			to = u.groups[i+1].end
		}
		if b := &u.groups[i]; b.keep {
			groups = append(groups, slices.Clone(u.bytes[b.end-from:to-from]))
		}
	}
	return groups
}

// refuse tells the waiters numbered from … to, the last not included, that nothing was kept of their groups. mu is
// held.
func (j *Journal) refuse(from, to uint64, why error) {
	j.refusals = append(j.refusals, refusal{from, to, fmt.Errorf("%w: %w", journal.ErrRefused, why)})
}
