package measure

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// film is a terminal that keeps every picture, and a clock.
type film struct {
	strings.Builder
	now time.Time
}

func (f *film) progress(label string, total int64, columns int) *Progress {
	return NewProgress(ProgressConfig{
		W: f, Terminal: true, Label: label, Total: total,
		Columns: func() int { return columns }, Now: func() time.Time { return f.now },
	})
}

// pictures returns what was drawn, one picture a line, with the control sequences made visible.
func (f *film) pictures() string {
	s := strings.ReplaceAll(f.String(), "\n", "<newline>")
	s = strings.ReplaceAll(s, "\x1b[K", "<clear>")
	return strings.TrimPrefix(strings.ReplaceAll(s, "\r", "\n"), "\n") + "\n"
}

func TestProgressShowsShareCountRateAndTimeLeft(t *testing.T) {
	var f film
	p := f.progress("filling", 2000, 0)
	for range 4 {
		p.Add(499)
		f.now = f.now.Add(2500 * time.Millisecond)
	}
	p.Set(2000)
	p.Done()
	golden(t, "progress.txt", f.pictures())
}

func TestProgressFitsItsTerminalAlsoInJapanese(t *testing.T) {
	var f film
	for _, columns := range []int{100, 60, 45, 30, 12, 3} {
		f.now = f.now.Add(time.Second)
		p := f.progress("行列に入れています", 1000, columns)
		f.now = f.now.Add(time.Second)
		p.Add(333)
		p.Clear()
	}
	golden(t, "progress-ja.txt", f.pictures())
	for _, l := range strings.Split(f.String(), "\r") {
		if n := cells(strings.TrimSuffix(l, "\x1b[K")); n > 99 {
			t.Errorf("%q takes %d columns", l, n)
		}
	}
}

func TestProgressOfUnknownTotalCounts(t *testing.T) {
	var f film
	p := f.progress("reading", 0, 80)
	p.Add(1)
	f.now = f.now.Add(90 * time.Second)
	p.Add(1234567)
	p.Done()
	golden(t, "progress-unknown.txt", f.pictures())
}

func TestProgressIsDrawnAtMostTenTimesASecond(t *testing.T) {
	var f film
	p := f.progress("", 10000, 80)
	for range 10000 { // ten seconds
		p.Add(1)
		f.now = f.now.Add(time.Millisecond)
	}
	if n := strings.Count(f.String(), "\r"); n < 90 || n > 101 {
		t.Errorf("drawn %d times in ten seconds", n)
	}
}

func TestProgressIsSilentWhereThereIsNoTerminal(t *testing.T) {
	var b strings.Builder
	for _, p := range []*Progress{NewProgress(ProgressConfig{W: &b, Total: 10}),
		NewProgress(ProgressConfig{Terminal: true}), nil} {
		p.Add(1)
		p.Set(5)
		p.Done()
		p.Clear()
	}
	if b.Len() != 0 {
		t.Errorf("wrote %q", b.String())
	}
}

func TestNothingIsDrawnAfterTheEnd(t *testing.T) {
	for name, end := range map[string]func(*Progress){"Done": (*Progress).Done, "Clear": (*Progress).Clear} {
		var f film
		p := f.progress("x", 10, 80)
		p.Add(5)
		end(p)
		n := f.Len()
		f.now = f.now.Add(time.Hour)
		p.Add(1)
		p.Done()
		p.Clear()
		if f.Len() != n {
			t.Errorf("after %s: %q", name, f.String()[n:])
		}
	}
}

func TestManyMayReportProgressAtOnce(t *testing.T) {
	var b strings.Builder
	p := NewProgress(ProgressConfig{W: &b, Terminal: true, Label: "\x1b[2Jwild\nlabel", Total: 4000})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 1000 {
				p.Add(1)
			}
		})
	}
	wg.Wait()
	p.Done()
	if s := b.String(); !strings.Contains(s, "100%  4,000/4,000") || strings.Contains(s, "\x1b[2J") {
		t.Errorf("the last picture is %q", s)
	}
}

func TestStderrProgressDoesNotDisturbTests(t *testing.T) {
	p := StderrProgress("x", 1) // stderr may or may not be a terminal here: it only must not fail
	p.Set(1)
	p.Clear()
}
