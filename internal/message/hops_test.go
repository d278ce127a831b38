package message

import (
	"testing"
	"time"
)

func TestHopsTellTheTimeSinceTheLastKnownOne(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	var hops Hops
	if _, ok := hops.Since(Settled); ok {
		t.Error("nothing was passed, and yet there is a time")
	}
	hops.Mark(Accepted, start)
	if _, ok := hops.Since(Accepted); ok {
		t.Error("nothing comes before the first hop")
	}
	hops.Mark(Claimed, start.Add(3*time.Millisecond)) // Durable is not known
	if d, ok := hops.Since(Claimed); !ok || d != 3*time.Millisecond {
		t.Errorf("claimed after %v, %v", d, ok)
	}
	if _, ok := hops.Since(Durable); ok {
		t.Error("a hop that was not passed has a time")
	}
	hops.Mark(Sent, start.Add(10*time.Millisecond))
	if d, ok := hops.Since(Sent); !ok || d != 7*time.Millisecond {
		t.Errorf("sent after %v, %v", d, ok)
	}
}

func TestAClockSetBackGivesNoNegativeTime(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var hops Hops
	hops.Mark(Accepted, start)
	hops.Mark(Durable, start.Add(-time.Hour))
	if d, ok := hops.Since(Durable); !ok || d != 0 {
		t.Errorf("durable after %v, %v", d, ok)
	}
}

func TestEveryHopHasItsOwnName(t *testing.T) {
	seen := map[string]bool{}
	for h := Accepted; int(h) < HopCount; h++ {
		if name := h.String(); name == "" || seen[name] {
			t.Errorf("hop %d is named %q", h, name)
		}
		seen[h.String()] = true
	}
}
