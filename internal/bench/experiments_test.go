package bench

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestOnlyTheWorksThatAreWantedAreChosen(t *testing.T) {
	s := &queueSession{extent: quick}
	all, err := s.choose(s.experiments())
	if err != nil || len(all) != len(s.experiments()) {
		t.Fatalf("%d of %d experiments: %v", len(all), len(s.experiments()), err)
	}
	s.Only = []string{"put", "hand-over"}
	some, err := s.choose(s.experiments())
	if err != nil || len(some) != 5 {
		t.Fatalf("%d experiments: %v", len(some), err)
	}
	for _, e := range some {
		if e.work != "put" && e.work != "hand-over" {
			t.Errorf("%s was not asked for", e.work)
		}
	}
	s.Only = []string{"put", "putt"}
	if _, err := s.choose(s.experiments()); err == nil ||
		!strings.Contains(err.Error(), `"putt"`) || !strings.Contains(err.Error(), "put-pipelined") {
		t.Errorf("a work that does not exist: %v", err)
	}
}

func TestTenMillionAreOnlyForThoseWhoAsk(t *testing.T) {
	most := func(s *queueSession) (disk int64) {
		for _, e := range s.experiments() {
			disk = max(disk, e.disk)
		}
		return disk
	}
	if n := most(&queueSession{extent: whole}); n > 4<<30 {
		t.Errorf("the whole bench needs %d bytes", n)
	}
	if n := most(&queueSession{session: session{Options: Options{Deep: true}}, extent: whole}); n < 10<<30 {
		t.Errorf("ten million messages of 1000 bytes need %d bytes", n)
	}
}

func TestWholeBenchTakesAboutTenMinutes(t *testing.T) {
	takes := time.Duration(0)
	for _, e := range (&queueSession{extent: whole}).experiments() {
		takes += e.takes
	}
	if takes < 5*time.Minute || takes > 12*time.Minute {
		t.Errorf("the experiments are estimated to take %v", takes)
	}
}

func TestWhatWouldFillTheDiskIsNotBegun(t *testing.T) {
	dir := t.TempDir()
	if err := roomFor(dir, []experiment{{work: "put", disk: 1}}); err != nil {
		t.Errorf("one byte: %v", err)
	}
	_, known := freeBytes(dir)
	err := roomFor(dir, []experiment{{work: "put", disk: 1}, {work: "restart", disk: 1 << 60}})
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
	es := []experiment{{steps: 2, takes: 10 * time.Second}, {steps: 1, takes: 30 * time.Second}}
	var b bar
	b.begin(Options{Progress: &out, Terminal: true}, "queue", es)
	var done []time.Duration
	note := func() { done = append(done, b.done+b.now.takes*time.Duration(b.steps)/time.Duration(b.now.steps)) }
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
