package file

import (
	"iter"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// releaseStep is how many records are released before those who append get a turn.
const releaseStep = 4096

// Release implements journal.Journal. Releasing a record twice, or one that never was lasting, does nothing.
func (j *Journal) Release(addrs ...journal.Address) {
	empty := false
	for len(addrs) > 0 {
		n := min(len(addrs), releaseStep)
		empty = j.releaseSome(addrs[:n]) || empty
		addrs = addrs[n:]
	}
	if empty || j.short.Load() {
		j.wakeKeeper()
	}
}

// releaseSome says whether a segment that can be given back has no live record any more. The tail cannot: where
// messages go as they come it is empty after each, and the keeper and the cleaner would be woken for nothing.
func (j *Journal) releaseSome(addrs []journal.Address) (empty bool) {
	j.segMu.RLock()
	defer j.segMu.RUnlock()
	j.liveMu.Lock()
	defer j.liveMu.Unlock()
	f := j.finder()
	for _, a := range addrs {
		if i := f.segment(a.Position); i >= 0 {
			s := f.segs[i]
			cleared := s.live.clear(slot(s.offset(a.Position), a.Index))
			empty = empty || cleared && s.live.count == 0 && s.sealedEnd.Load() > 0
		} else if i, row := f.row(a); i >= 0 {
			empty = f.release(f.moved[i], row) || empty
		}
	}
	return empty
}

// release releases a moved record and says whether its cold segment has no live one any more. liveMu is held.
func (f *finder) release(t *movedTable, row int) (empty bool) {
	if !t.live.clear(int64(row)) {
		return false
	}
	c := f.coldOf(t.rows[row].cold)
	if c == nil {
		return false
	}
	c.alive.remove(&t.rows[row])
	return c.alive.records == 0
}

// ReleaseBefore implements journal.Journal.
func (j *Journal) ReleaseBefore(p journal.Position) {
	j.segMu.RLock()
	j.liveMu.Lock()
	for _, s := range j.segs {
		if s.base < p {
			s.live.clearBefore(slot(min(s.offset(p), s.size), 0))
		}
	}
	f := j.finder()
	for _, t := range j.moved {
		if t.base < p && t.live.count > 0 {
			end := slot(int64(p-t.base), 0)
			for i := 0; i < len(t.rows) && int64(t.rows[i].slot) < end; i++ {
				f.release(t, i)
			}
		}
	}
	j.liveMu.Unlock()
	j.segMu.RUnlock()
	j.wakeKeeper()
}

// Keep implements journal.Journal. Groups appended while live runs are kept.
func (j *Journal) Keep(live iter.Seq[journal.Address]) {
	j.mu.Lock()
	next := j.tail.at(j.tail.end) // of the first group that is not concerned
	j.mu.Unlock()
	f := j.lookup()
	kept, moved := make([]liveness, len(f.segs)), make([]liveness, len(f.moved))
	alive := make(map[*coldSegment]*tally)
	for a := range live {
		if a.Position >= next {
			continue
		}
		if i := f.segment(a.Position); i >= 0 {
			s := f.segs[i]
			kept[i].set(slot(s.offset(a.Position), a.Index), s.size)
		} else if i, row := f.row(a); i >= 0 {
			moved[i].set(int64(row), liveBits(len(f.moved[i].rows)))
		}
	}
	for i, t := range f.moved {
		for row := range t.rows {
			if moved[i].has(int64(row)) {
				c := f.coldOf(t.rows[row].cold)
				if alive[c] == nil {
					alive[c] = new(tally)
				}
				alive[c].add(&t.rows[row])
			}
		}
	}
	j.liveMu.Lock()
	for i, s := range f.segs {
		if s.base < next { // what lies behind was appended meanwhile
			s.live.clearBefore(slot(min(s.offset(next), s.size), 0))
		}
		s.live.merge(&kept[i])
	}
	for i, t := range f.moved { // none is live before, and none is added before
		t.live = moved[i]
	}
	for c, sum := range alive {
		c.alive = *sum
	}
	j.kept = true
	j.liveMu.Unlock()
	j.wakeKeeper()
}
