package harness

import (
	"strings"
	"testing"
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
