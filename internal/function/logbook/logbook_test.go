package logbook_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/function/logbook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func fill(b *logbook.Book, from, to int) {
	for n := from; n < to; n++ {
		b.Add(logbook.Line{Text: fmt.Sprint(n)})
	}
}

func TestTheNewestLinesAreKept(t *testing.T) {
	b := logbook.New(10_000)
	fill(b, 0, 1000)
	lines, next, missed := b.Read(0, 0)
	if next != 1000 || b.End() != 1000 || int(missed)+len(lines) != 1000 || len(lines) < 50 || len(lines) > 100 {
		t.Fatalf("%d lines, %d missed, then %d", len(lines), missed, next)
	}
	for i, l := range lines {
		if l.Text != fmt.Sprint(int(missed)+i) {
			t.Fatalf("line %d is %q", int(missed)+i, l.Text)
		}
	}
	if lines, next, missed := b.Read(990, 3); len(lines) != 3 || lines[0].Text != "990" || next != 993 || missed != 0 {
		t.Errorf("%v, %d, %d", lines, next, missed)
	}
	if lines, next, _ := b.Read(5000, 0); len(lines) != 0 || next != 1000 {
		t.Errorf("beyond the end: %v, %d", lines, next)
	}
}

func TestALineLargerThanTheBookIsKeptAlone(t *testing.T) {
	b := logbook.New(100)
	b.Add(logbook.Line{Text: "small"})
	b.Add(logbook.Line{Text: strings.Repeat("x", 1000)})
	if lines, _, missed := b.Read(0, 0); len(lines) != 1 || missed != 1 {
		t.Errorf("%d lines, %d missed", len(lines), missed)
	}
}

func TestFollowersSeeEveryLine(t *testing.T) {
	b := logbook.New(1 << 20)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			var from uint64
			for seen := 0; seen < 3000; {
				lines, next, missed, err := b.Next(t.Context(), from)
				if err != nil || missed != 0 {
					t.Errorf("%d missed, %v", missed, err)
					return
				}
				for _, l := range lines {
					if l.Text != fmt.Sprint(seen) {
						t.Errorf("line %d is %q", seen, l.Text)
						return
					}
					seen++
				}
				from = next
			}
		})
	}
	fill(b, 0, 3000)
	wg.Wait()
}

func TestAFollowerEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, next, _, err := logbook.New(100).Next(ctx, 7); !errors.Is(err, context.Canceled) || next != 7 {
		t.Errorf("%d, %v", next, err)
	}
}

// collect makes a pipe whose lines are kept.
func collect(t *testing.T) (p *logbook.Pipe, write func(string), lines func() string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	p, w, err := logbook.NewPipe(func(text string) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, text)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.Close() // it may be closed already
		p.Close(false)
	})
	write = func(text string) {
		if text == "" {
			_ = w.Close() // the test goes on
		} else if _, err := w.WriteString(text); err != nil {
			t.Error(err)
		}
	}
	return p, write, func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(all, "|")
	}
}

func TestWhatWasPrintedIsThereAfterADrain(t *testing.T) {
	p, write, lines := collect(t)
	want := ""
	for n := range 100 {
		write(fmt.Sprintf("line %d\n", n))
		p.Drain()
		if want += fmt.Sprintf("|line %d", n); lines() != want[1:] {
			t.Fatalf("%q, want %q", lines(), want[1:])
		}
	}
}

func TestLinesAreCutWhereTheyEnd(t *testing.T) {
	p, write, lines := collect(t)
	write("a\nb")
	write("c\r\n\nd")
	p.Drain()
	if lines() != "a|bc||d" {
		t.Errorf("%q", lines())
	}
	write("e\n")
	p.Drain()
	if lines() != "a|bc||d|e" {
		t.Errorf("%q", lines())
	}
}

func TestALineWithoutEndIsCut(t *testing.T) {
	p, write, lines := collect(t)
	var wg sync.WaitGroup
	wg.Go(func() { write(strings.Repeat("x", 200_000) + "\nshort") })
	wg.Wait()
	write("")
	p.Close(false)
	got := strings.Split(lines(), "|")
	if len(got) != 5 || len(got[0]) != 64<<10 || len(got[3]) != 200_000-3*64<<10 || got[4] != "short" {
		t.Errorf("%d lines", len(got))
	}
}

func TestClosingDoesNotWaitForAWriterThatStays(t *testing.T) {
	p, write, lines := collect(t)
	write("said\n")
	p.Drain()
	p.Close(true)
	if lines() != "said" {
		t.Errorf("%q", lines())
	}
}
