package harness

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/machine"
)

func TestWhatWouldFillTheDiskIsNotBegun(t *testing.T) {
	dir := t.TempDir()
	if err := roomFor(dir, []Experiment{{Work: "put", Disk: 1}}); err != nil {
		t.Errorf("one byte: %v", err)
	}
	_, known := machine.FreeBytes(dir)
	err := roomFor(dir, []Experiment{{Work: "put", Disk: 1}, {Work: "restart", Disk: 1 << 60}})
	if known != (err != nil) {
		t.Errorf("an exbibyte, free space known %v: %v", known, err)
	}
	if err != nil && (!strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "restart") ||
		!strings.Contains(err.Error(), "1.00 EiB")) {
		t.Errorf("it does not say what needs how much where: %v", err)
	}
}

func TestBarAdvancesByTheTimeThatWasEstimated(t *testing.T) {
	var out bytes.Buffer
	es := []Experiment{{Steps: 2, Takes: 10 * time.Second}, {Steps: 1, Takes: 30 * time.Second}}
	var b bar
	b.begin(Options{Progress: &out, Terminal: true}, "queue", es)
	var done []time.Duration
	note := func() { done = append(done, b.done+b.now.Takes*time.Duration(b.steps)/time.Duration(b.now.Steps)) }
	b.next(es[0])
	for range 3 { // one more than planned
		b.step()
		note()
	}
	b.next(es[1])
	note()
	b.step()
	note()
	b.end()
	want := []time.Duration{5 * time.Second, 10 * time.Second, 10 * time.Second, 10 * time.Second, 40 * time.Second}
	if !slices.Equal(done, want) {
		t.Errorf("%v, want %v", done, want)
	}
	if !strings.Contains(out.String(), "0/40") {
		t.Errorf("the bar shows %q", out.String())
	}
}

func TestOnlyTheWorksThatAreWantedAreChosen(t *testing.T) {
	es := func() []Experiment {
		return []Experiment{{Work: "put"}, {Work: "put"}, {Work: "hand-over"}, {Work: "claim"}}
	}
	s := new(Session)
	if all, err := s.choose(es()); err != nil || len(all) != 4 {
		t.Fatalf("%d of 4 experiments: %v", len(all), err)
	}
	s.Only = []string{"put", "hand-over"}
	some, err := s.choose(es())
	if err != nil || len(some) != 3 {
		t.Fatalf("%d experiments: %v", len(some), err)
	}
	for _, e := range some {
		if e.Work == "claim" {
			t.Errorf("%s was not asked for", e.Work)
		}
	}
	s.Only = []string{"put", "putt"}
	if _, err := s.choose(es()); err == nil || !strings.Contains(err.Error(), `"putt"`) ||
		!strings.Contains(err.Error(), "hand-over") {
		t.Errorf("a work that does not exist: %v", err)
	}
	s.Works = []string{"both"}
	s.Wants = func(work string) bool { return work != "claim" }
	s.Only = []string{"both"}
	if some, err := s.choose(es()); err != nil || len(some) != 3 {
		t.Errorf("works that have another name: %d experiments, %v", len(some), err)
	}
}

func TestMemoryIsMeasured(t *testing.T) {
	if machine.ResidentBytes() <= 0 || HeapBytes() <= 0 {
		t.Errorf("resident %d, heap %d bytes", machine.ResidentBytes(), HeapBytes())
	}
	if got := Megabytes(1_540_000); got != 1.5 {
		t.Errorf("1.54 million bytes are %v MB", got)
	}
}
