package queue

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// longer is a number of messages that purges and seeks take in more than two pieces.
const longer = 2*stretch*pageSize + pageSize/2

// putMany puts numbered messages.
func putMany(t *testing.T, s *Store, n Name, count int) {
	t.Helper()
	for i := 0; i < count; {
		var texts []string
		for ; i < count && len(texts) < 500; i++ {
			texts = append(texts, fmt.Sprint(i))
		}
		mustPut(t, s, n, text(texts...)...)
	}
}

// settleMany settles the oldest messages.
func settleMany(t *testing.T, s *Store, n Name, count int) {
	t.Helper()
	for ; count > 0; count -= 500 {
		settleOldest(t, s, n, min(count, 500))
	}
}

// wantsStats fails unless the queue has so many messages, and keeps so many bytes of settled ones; after a restart,
// too.
func wantsStats(t *testing.T, what string, m *memory, s *Store, n Name, messages int, past bool) {
	t.Helper()
	again, err := fold(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	again.advance(time.Now())
	again.settleDown()
	s.mu.Lock()
	defer s.mu.Unlock()
	for which, st := range map[string]*state{"now": s.state, "after a restart": again} {
		q := st.queueNames[n]
		if q == nil {
			t.Fatalf("%s, %s: there is no queue", what, which)
		}
		if q.all.n != messages || (q.all.past > 0) != past || (q.pastBytes > 0) != past {
			t.Errorf("%s, %s: %d messages and %d of the past (%d bytes), want %d and a past: %v", what, which, q.all.n,
				q.all.past, q.pastBytes, messages, past)
		}
	}
}

func TestALongQueueIsPurgedAndDeletedInPieces(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		putMany(t, s, news, longer)
		if _, err := s.TakeSnapshot(t.Context(), Name{DefaultNamespace, "kept"}, news, SnapshotOptions{}); err != nil {
			t.Fatal(err)
		}
		// a view shows the others
		claimed := mustClaim(t, s, ClaimRequest{From: where(t, news, "key is null"), Max: 3, Lease: time.Hour})
		before := m.End()
		if n, err := s.Purge(t.Context(), news); err != nil || n != longer {
			t.Errorf("purged %d, %v", n, err)
		}
		pieces := 0
		for _, err := range m.Scan(t.Context(), before) {
			if pieces++; err != nil {
				t.Fatal(err)
			}
		}
		if pieces != 3 {
			t.Errorf("in %d pieces", pieces)
		}
		if errs, err := s.Settle(t.Context(), []Settlement{{Token: claimed[0].Token}}); err != nil ||
			!errors.Is(errs[0], ErrStale) {
			t.Errorf("settling what was purged: %v, %v", errs, err)
		}
		wantsStats(t, "purged, with a snapshot", m, s, news, 0, true)
		putMany(t, s, news, 3)
		if n, err := s.Purge(t.Context(), news); err != nil || n != 3 {
			t.Errorf("purged %d, %v", n, err)
		}
		if err := s.DeleteSnapshot(t.Context(), Name{DefaultNamespace, "kept"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		wantsStats(t, "without the snapshot", m, s, news, 0, false)
		putMany(t, s, news, longer)
		if _, err := s.TakeSnapshot(t.Context(), Name{DefaultNamespace, "kept"}, news, SnapshotOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := s.DeleteQueue(t.Context(), news); err != nil {
			t.Fatal(err)
		}
		if sns := must(s.Snapshots(t.Context())); len(sns) != 0 {
			t.Errorf("snapshots of the deleted queue: %v", sns)
		}
		if _, err := s.Purge(t.Context(), news); !errors.Is(err, ErrNotFound) {
			t.Errorf("purging the deleted queue: %v", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.state.messages != 0 || s.state.bytes != 0 {
			t.Errorf("%d messages and %d bytes are left", s.state.messages, s.state.bytes)
		}
	})
}

func TestALongQueueIsSoughtInPieces(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		if _, err := s.CreateQueue(t.Context(), news, Definition{History: time.Hour}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		putMany(t, s, news, longer)
		time.Sleep(time.Second)
		middle := time.Now()
		putMany(t, s, news, longer)
		settleMany(t, s, news, longer+1000)
		kept := Name{DefaultNamespace, "kept"}
		if _, err := s.TakeSnapshot(t.Context(), kept, news, SnapshotOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			to   SeekTo
			want Sought
			left int
			past bool
		}{
			{SeekTo{Time: middle}, Sought{Back: 1000}, longer, true},
			{SeekTo{Time: began}, Sought{Back: longer}, 2 * longer, false},
			{SeekTo{Snapshot: kept}, Sought{Settled: longer + 1000}, longer - 1000, true},
			{SeekTo{Time: time.Now().Add(time.Minute)}, Sought{Settled: longer - 1000}, 0, true},
			{SeekTo{Snapshot: kept}, Sought{Back: longer - 1000}, longer - 1000, true},
		} {
			if got := mustSeek(t, s, news, x.to); got != x.want {
				t.Errorf("to %+v: %+v, want %+v", x.to, got, x.want)
			}
			wantsStats(t, fmt.Sprintf("after seeking %+v", x.to), m, s, news, x.left, x.past)
		}
		// A purge takes what the history keeps; what the snapshot holds can still be brought back, and is purged again.
		for range 2 {
			if n, err := s.Purge(t.Context(), news); err != nil || n != longer-1000 {
				t.Errorf("purged %d, %v", n, err)
			}
			if got := mustSeek(t, s, news, SeekTo{Time: began}); got != (Sought{Back: longer - 1000}) {
				t.Errorf("after the purge: %+v", got)
			}
		}
		if n, err := s.Purge(t.Context(), news); err != nil || n != longer-1000 {
			t.Errorf("purged %d, %v", n, err)
		}
		if err := s.DeleteSnapshot(t.Context(), kept); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		wantsStats(t, "within the history", m, s, news, 0, true)
		if n, err := s.Purge(t.Context(), news); err != nil || n != 0 {
			t.Errorf("purged %d, %v", n, err)
		}
		wantsStats(t, "purged for the last time", m, s, news, 0, false)
	})
}

// TestALongerHistoryBringsNothingBackThatAShorterOneGaveUp also makes the history shorter, where the past goes in time.
func TestALongerHistoryBringsNothingBackThatAShorterOneGaveUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m := newMemory()
		s := open(t, m)
		history := func(d time.Duration) {
			t.Helper()
			if err := s.AlterQueue(t.Context(), news, Definition{History: d}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.CreateQueue(t.Context(), news, Definition{History: time.Hour}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		putMany(t, s, news, longer)
		settleMany(t, s, news, longer)
		time.Sleep(time.Minute)
		history(time.Second)
		history(time.Hour) // at the same moment: nothing was looked at in between
		wantsStats(t, "a longer one again", m, s, news, 0, false)
		if got := mustSeek(t, s, news, SeekTo{Time: began}); got != (Sought{}) {
			t.Errorf("brought back: %+v", got)
		}
		putMany(t, s, news, longer)
		settleMany(t, s, news, longer)
		time.Sleep(time.Minute)
		history(time.Second)
		time.Sleep(time.Second)
		wantsStats(t, "a shorter one", m, s, news, 0, false)
	})
}
