package queue

import (
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func openDeepSide(t *testing.T, depth, share, burst int) *deepSide {
	t.Helper()
	s := &session{Session: harness.Session{Temp: t.TempDir()}}
	d, err := s.openDeep(t.Context(), depth, share, burst)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.rig.Remove(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// matching counts what meets a condition of the kind that the bench asks by.
func matching(t *testing.T, r *harness.Rig, by func() (*condition.Expr, error)) int {
	t.Helper()
	where, err := by()
	if err != nil {
		t.Fatal(err)
	}
	found, err := r.Store.Peek(t.Context(), harness.Measured,
		queue.PeekRequest{Where: where, Max: 10_000, NoBody: true})
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

func TestShareOfTheBacklogMatchesAndStays(t *testing.T) {
	for _, share := range shares {
		t.Run(percent(share), func(t *testing.T) {
			const depth = 2000
			d := openDeepSide(t, depth, share, max(1, depth*share/2000))
			asks := newRowMaker(share).where(t.Context(), d.rig)
			before := matching(t, d.rig, asks)
			if want := depth * share / 1000; before != want {
				t.Errorf("%d of %d messages match, want %d", before, depth, want)
			}
			s, err := d.Run(t.Context(), 5*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			st, err := d.rig.Store.Stats(t.Context(), harness.Measured)
			if err != nil {
				t.Fatal(err)
			}
			if s.N == 0 || uint64(s.N) != st.TotalDone || int64(len(s.Calls)) != s.N || st.Messages() != depth ||
				st.Claimed != 0 {
				t.Errorf("%d are counted, %d were settled, %d wait, %d of them claimed", s.N, st.TotalDone,
					st.Messages(), st.Claimed)
			}
			if after := matching(t, d.rig, asks); after != before {
				t.Errorf("%d messages match after a slice, %d before", after, before)
			}
			// One look a call, also where each call is a claim in vain and another.
			if got := d.looks.times.Count(); got != s.N {
				t.Errorf("%d looks were timed in %d calls", got, s.N)
			}
		})
	}
}

func TestNoColumnAloneTellsWhatMatches(t *testing.T) {
	m := newRowMaker(500)
	var kind, inRange, both int
	for range 1000 {
		row := m.next().Row
		isKind := row[0].AsInt() == wantedKind
		isInRange := row[1].AsInt() >= wantedFrom
		if isKind {
			kind++
		}
		if isInRange {
			inRange++
		}
		if isKind && isInRange {
			both++
		}
	}
	if both != 500 || kind < 700 || kind > 800 || kind+inRange != 1000+both {
		t.Errorf("of 1000, %d are of the kind and %d in the range, %d both", kind, inRange, both)
	}
}

func TestEachClaimAsksInItsOwnWords(t *testing.T) {
	d := openDeepSide(t, 10, 1000, 5)
	asks := newRowMaker(1000).where(t.Context(), d.rig)
	texts := map[string]bool{}
	for range 20 {
		where, err := asks()
		if err != nil {
			t.Fatal(err)
		}
		texts[where.String()] = true
	}
	if len(texts) < 15 {
		t.Errorf("20 conditions have only %d texts", len(texts))
	}
}

func TestClaimInVainThatFindsSomethingIsAnError(t *testing.T) {
	d := openDeepSide(t, 10, 1000, 5)
	d.missing = every
	if _, err := d.Run(t.Context(), time.Millisecond); err == nil || !strings.Contains(err.Error(), "something") {
		t.Errorf("a claim that should have found nothing: %v", err)
	}
}
