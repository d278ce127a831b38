package file

import (
	"iter"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// Release implements journal.Journal. Releasing a record twice, or one that never was lasting, does nothing.
func (j *Journal) Release(addrs ...journal.Address) {
	if len(addrs) == 0 {
		return
	}
	j.segMu.RLock()
	j.liveMu.Lock()
	empty := false
	for _, a := range addrs {
		if s := segmentIn(j.segs, a.Position); s != nil {
			cleared := s.live.clear(slot(s.offset(a.Position), a.Index))
			empty = empty || cleared && s.live.count == 0
		}
	}
	j.liveMu.Unlock()
	j.segMu.RUnlock()
	if empty {
		j.wakeKeeper()
	}
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
	j.liveMu.Unlock()
	j.segMu.RUnlock()
	j.wakeKeeper()
}

// Keep implements journal.Journal. Groups appended while live runs are kept.
func (j *Journal) Keep(live iter.Seq[journal.Address]) {
	j.mu.Lock()
	next := j.tail.at(j.tail.end) // of the first group that is not concerned
	j.mu.Unlock()
	j.segMu.RLock()
	segs := j.segs // replaced, never changed
	j.segMu.RUnlock()
	kept := make(map[*segment]*liveness, len(segs))
	for _, s := range segs {
		kept[s] = new(liveness)
	}
	for a := range live {
		if s := segmentIn(segs, a.Position); s != nil && a.Position < next {
			kept[s].set(slot(s.offset(a.Position), a.Index), s.size)
		}
	}
	j.liveMu.Lock()
	for s, l := range kept {
		if s.base < next { // what lies behind was appended meanwhile
			s.live.clearBefore(slot(min(s.offset(next), s.size), 0))
		}
		s.live.merge(l, s.size)
	}
	j.kept = true
	j.liveMu.Unlock()
	j.wakeKeeper()
}
