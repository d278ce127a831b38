package pace_test

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/pace"
)

func TestAStopwatchTellsPartsOfAMillisecond(t *testing.T) {
	s := pace.NewStopwatch()
	least, last := time.Hour, s.Elapsed()
	for changes := 0; changes < 20; {
		now := s.Elapsed()
		if now < last {
			t.Fatalf("it went back from %v to %v", last, now)
		}
		if now > last {
			least = min(least, now-last)
			changes++
		}
		last = now
	}
	if least > 100*time.Microsecond {
		t.Errorf("its smallest step is %v", least)
	}
}

func TestAStopwatchAllocatesNothing(t *testing.T) {
	s := pace.NewStopwatch()
	if n := testing.AllocsPerRun(100, func() { s.Elapsed() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
