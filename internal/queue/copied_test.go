package queue

import (
	"context"
	"fmt"
	"sync"
	"testing"
)

// TestASnapshotIsOfOneMomentWhateverIsCopiedAhead copies which messages there are in pieces, while messages and whole
// pages come and go, and compares it with what a copy at once has.
func TestASnapshotIsOfOneMomentWhateverIsCopiedAhead(t *testing.T) {
	m := &messages{saves: &newState().saves}
	add := func(seq uint64) { m.Add(seq, &arrival{}) }
	for seq := uint64(1); seq < 40*pageSize; seq++ {
		add(seq)
	}
	m.copied = &copied{stale: map[uint64]struct{}{}}
	next := uint64(40 * pageSize)
	for step := uint64(0); m.copied.more(m, 3); step++ {
		// in pages that are copied, and in others
		for _, seq := range []uint64{step * 7 * pageSize % next, step*11%next + 1, next - 1 - step} {
			if e, there := m.Get(seq); there {
				m.Delete(e)
			}
		}
		if p, there := m.pages.Get(step); there && step%5 == 0 {
			m.DeletePage(p)
		}
		for range 50 {
			add(next)
			next++
		}
		if step%4 == 0 {
			m.copied.refresh(m, 2)
		}
	}
	if len(m.copied.stale) == 0 {
		t.Error("no page changed after it was copied: the test tests little")
	}
	ahead := m.sequences()
	m.copied = nil
	at := m.sequences()
	if fmt.Sprint(ahead.all()) != fmt.Sprint(at.all()) || ahead.Len() != at.Len() {
		t.Errorf("a snapshot that was copied ahead has %d messages, one copied at once %d", ahead.Len(), at.Len())
	}
}

// TestSnapshotsAreTakenAtOnceByManyCallers of one queue while messages come and go: each holds what it finds, and the
// last one lets go of what was copied.
func TestSnapshotsAreTakenAtOnceByManyCallers(t *testing.T) {
	s := open(t, newMemory())
	queue := Name{DefaultNamespace, "q"}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for k := range 20 {
				if _, err := s.Put(t.Context(), queue, text(fmt.Sprintf("%d %d", i, k))); err != nil {
					t.Error(err)
				}
				if _, err := s.TakeSnapshot(t.Context(), Name{DefaultNamespace, fmt.Sprintf("s%d-%d", i, k)}, queue,
					SnapshotOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := len(must(s.Snapshots(t.Context()))); n != 160 {
		t.Errorf("there are %d snapshots, want 160", n)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := s.TakeSnapshot(ended, Name{DefaultNamespace, "late"}, queue, SnapshotOptions{}); err == nil {
		t.Error("a snapshot was taken for a caller that has gone")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.queueNames[queue].all.copied != nil {
		t.Error("what was copied for snapshots is still kept")
	}
}
