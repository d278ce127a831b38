package push

import (
	"testing"
	"time"
)

func TestTheWindowDoublesWithEachRoundThatWorks(t *testing.T) {
	w := newWindow(100)
	for _, want := range []int{4, 8, 16, 32, 64, 100, 100} {
		if w.size != want {
			t.Fatalf("the window is %d, not %d", w.size, want)
		}
		for range w.size {
			w.worked()
		}
	}
	for _, want := range []int{50, 25, 12, 6, 3, 2, 2} {
		if w.failed(); w.size != want {
			t.Fatalf("the window is %d, not %d", w.size, want)
		}
	}
	if w := newWindow(2); w.size != 2 {
		t.Errorf("the window begins with %d of 2", w.size)
	}
	one := newWindow(1)
	if one.failed(); one.size != 1 {
		t.Errorf("a window of 1 becomes one of %d", one.size)
	}
}

func TestPausesGrowUntilSomethingWorks(t *testing.T) {
	var p pause
	now := time.Unix(0, 0)
	for i := range patience {
		if p.failed(now, now); p.left(now) > 0 {
			t.Fatalf("failure %d begins a pause", i+1)
		}
	}
	for i, want := range []time.Duration{100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200, 60000, 60000} {
		want *= time.Millisecond
		if p.failed(now, now); p.left(now) != want {
			t.Fatalf("pause %d: %v, wanted %v", i+1, p.left(now), want)
		}
		sent := now.Add(-time.Millisecond)
		now = now.Add(want / 2)
		if p.failed(sent, now); p.left(now) != want-want/2 {
			t.Fatalf("a failure of a request that was under way made pause %d longer", i+1)
		}
		now = now.Add(want)
		if p.failed(sent, now); p.left(now) != 0 {
			t.Fatalf("a late failure of a request that was under way began a pause after pause %d", i+1)
		}
	}
	if p.worked(); p.left(now) != 0 {
		t.Error("a success does not end the pauses")
	}
	for range patience {
		p.failed(now, now)
	}
	if p.failed(now, now); p.left(now) != firstPause {
		t.Errorf("the first pause after a success is %v", p.left(now))
	}
}

func TestAFewFailuresOfWhatWorksAreNotTold(t *testing.T) {
	var o outage
	now := time.Unix(1000, 0)
	if !o.failed(now) || !o.worked(now) {
		t.Error("the first failure of an endpoint that took nothing yet is not told, or that it is over")
	}
	now = now.Add(time.Hour)
	o.worked(now)
	for i := range patience {
		if o.failed(now.Add(time.Duration(i) * time.Second)) {
			t.Errorf("failure %d is told", i+1)
		}
	}
	if o.worked(now.Add(lately)) {
		t.Error("told that nothing is over")
	}
	if !o.failed(now.Add(2 * lately)) {
		t.Error("an endpoint that took nothing lately is not told")
	}
}
