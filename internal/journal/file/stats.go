package file

import "github.com/hikyaku/hikyaku/internal/journal"

// Stats implements journal.Journal.
func (j *Journal) Stats() journal.Stats {
	st := journal.Stats{
		Groups:     j.count.groups.Load(),
		Records:    j.count.records.Load(),
		Bytes:      j.count.bytes.Load(),
		Syncs:      j.count.syncs.Load(),
		Checkpoint: j.checkpoints.newest(),

		CopiedBytes:     j.count.copied.Load(),
		CheckpointBytes: j.count.checkpoints.Load(),
		ScrubbedBytes:   j.count.scrubbed.Load(),
	}
	j.found.stats(&st)
	j.mu.Lock()
	for _, s := range j.spares {
		st.TotalBytes += uint64(s.size)
	}
	j.segMu.RLock()
	segs, colds := j.segs, j.colds
	j.segMu.RUnlock()
	type sum struct {
		size   int64
		totals totals
	}
	sums := make([]sum, len(segs))
	for i, s := range segs {
		sums[i] = sum{s.size, s.totals}
	}
	j.mu.Unlock()
	j.liveMu.Lock()
	defer j.liveMu.Unlock()
	for i, s := range segs {
		st.TotalBytes += uint64(sums[i].size)
		if t := sums[i].totals; t.lasting > 0 {
			live := uint64(s.live.count)
			if !j.kept && live == 0 {
				live = t.lasting
			}
			st.LiveBytes += uint64(float64(t.lastingBytes) / float64(t.lasting) * float64(live))
		}
	}
	for _, c := range colds {
		st.TotalBytes += uint64(c.size)
		if j.kept {
			st.LiveBytes += uint64(c.alive.units * unitBytes)
		} else {
			st.LiveBytes += uint64(c.made.units * unitBytes)
		}
	}
	st.Segments = len(segs) + len(colds)
	return st
}
