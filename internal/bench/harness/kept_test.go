package harness

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestARowThatSaysDurableNeedsASyncForEachCallThatSharesNone(t *testing.T) {
	var synced uint64
	k := KeptBy(func() (uint64, error) { return synced, nil })
	work := func(syncs uint64) {
		synced += 100 // of others, before
		if err := k.During(func() error { synced += syncs; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	work(3)
	work(2)
	for _, c := range []struct {
		calls   int64
		clients int
		fails   bool
	}{{5, 1, false}, {6, 1, true}, {20, 4, false}, {21, 4, true}} {
		err := k.Check("hikyaku", c.calls, c.clients)
		if (err != nil) != c.fails || err != nil && !strings.Contains(err.Error(), "5 syncs") {
			t.Errorf("%d calls of %d clients: %v", c.calls, c.clients, err)
		}
	}
	if err := (*Kept)(nil).Check("another", 1, 1); err != nil {
		t.Error(err)
	}
}

func TestCallsThatDoNotOverlapShareNoSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := time.Now()
		var synced uint64
		k := KeptBy(func() (uint64, error) { return synced, nil })
		if err := k.CheckApart("hikyaku"); err == nil {
			t.Error("a row of no call at all is durable")
		}
		answered := func(began, ended time.Duration) {
			time.Sleep(time.Until(at.Add(ended)))
			k.Answered(at.Add(began))
		}
		answered(0, time.Millisecond) // before anything is counted
		err := k.During(func() error {
			time.Sleep(time.Millisecond)
			answered(0, 3*time.Millisecond) // begun before that
			answered(3*time.Millisecond, 5*time.Millisecond)
			answered(2500*time.Microsecond, 6*time.Millisecond)
			answered(4*time.Millisecond, 7*time.Millisecond)
			answered(5500*time.Microsecond, 8*time.Millisecond)
			answered(6*time.Millisecond, 9*time.Millisecond)
			synced = 2
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		answered(10*time.Millisecond, 11*time.Millisecond) // after all
		if err := k.CheckApart("hikyaku"); err != nil {
			t.Errorf("two calls did not overlap, and there were two syncs: %v", err)
		}
		k.syncs = 1
		if err := k.CheckApart("hikyaku"); err == nil || !strings.Contains(err.Error(), "2 did not overlap") {
			t.Errorf("two calls did not overlap, and there was one sync: %v", err)
		}
	})
	if err := (*Kept)(nil).CheckApart("another"); err != nil {
		t.Error(err)
	}
}
