package stdin

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// slabs takes slabs and remembers them.
type slabs struct {
	collector
	sizes  []int
	came   chan int // nil: nobody waits
	slabMu sync.Mutex
	settle func(i int, m *message.Message) component.Outcome
}

func (c *slabs) SendSlab(ctx context.Context, s component.Slab) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	c.slabMu.Lock()
	c.sizes = append(c.sizes, len(s.Messages))
	c.slabMu.Unlock()
	for i := range s.Messages {
		m := &s.Messages[i]
		c.mu.Lock()
		c.got = append(c.got, m)
		c.mu.Unlock()
		o := component.Outcome{}
		if c.settle != nil {
			o = c.settle(i, m)
		}
		s.Settle(i, m, o)
	}
	if c.came != nil {
		c.came <- len(s.Messages)
	}
	return len(s.Messages), nil
}

func TestLinesThatWereReadAtOnceAreSentAtOnce(t *testing.T) {
	var want []string
	for i := range 1000 {
		want = append(want, fmt.Sprintf("line %d", i))
	}
	out := &slabs{}
	if err := start(t, Config{}, strings.NewReader(strings.Join(want, "\n"))).Run(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	if got := out.bodies(); !slices.Equal(got, want) {
		t.Errorf("%d lines came: %.200q", len(got), got)
	}
	if len(out.sizes) > 20 || slices.Max(out.sizes) != component.SlabMessages {
		t.Errorf("they came in slabs of %d", out.sizes)
	}
	for i, m := range out.got[1:] {
		if before := out.got[i]; slices.Compare(before.ID[:], m.ID[:]) >= 0 || m.Time.Before(before.Time) ||
			m.Hops[message.Accepted] == 0 {
			t.Fatalf("line %d: id %s after %s, %v", i+1, m.ID, before.ID, m.Hops)
		}
	}
}

func TestALoneLineDoesNotWaitForCompany(t *testing.T) {
	r, w := io.Pipe()
	out := &slabs{came: make(chan int)}
	ended := make(chan error, 1)
	s := start(t, Config{}, r)
	go func() { ended <- s.Run(t.Context(), out) }()
	for _, text := range []string{"one\n", "two\nand half", " of three\n"} {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if n := <-out.came; n != 1 {
			t.Errorf("%q made a slab of %d", text, n)
		}
	}
	w.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := out.bodies(); !slices.Equal(got, []string{"one", "two", "and half of three"}) {
		t.Errorf("%q came", got)
	}
}

func TestALineTooLongIsNamedAndThoseBeforeItAreSent(t *testing.T) {
	in := "one\ntwo\n" + strings.Repeat("x", 30) + "\nfour\n"
	out := &slabs{}
	err := start(t, Config{MaxLineBytes: 10}, strings.NewReader(in)).Run(t.Context(), out)
	if err == nil || !strings.Contains(err.Error(), "line 3 (at byte 8)") {
		t.Errorf("the run ended with %v", err)
	}
	if got := out.bodies(); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("%q came", got)
	}
	out = &slabs{}
	s := start(t, Config{MaxLineBytes: 10, SkipLongLines: true}, strings.NewReader(in))
	if err := s.Run(t.Context(), out); err != nil {
		t.Error(err)
	}
	if got := out.bodies(); !slices.Equal(got, []string{"one", "two", "four"}) {
		t.Errorf("%q came", got)
	}
	if ns := s.Notices(); len(ns) != 1 || !strings.Contains(ns[0], "line 3") {
		t.Errorf("notices %q", ns)
	}
}

func TestASlabIsBoundedInBytes(t *testing.T) {
	long := strings.Repeat("x", component.SlabBytes/4)
	out := &slabs{}
	if err := start(t, Config{}, strings.NewReader(strings.Repeat(long+"\n", 40))).Run(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	if len(out.got) != 40 || slices.Max(out.sizes) > 4 {
		t.Errorf("%d lines came in slabs of %d", len(out.got), out.sizes)
	}
}

func TestOfASlabOnlyWhatComesBackIsSentAgainAndTheMarkWaitsForIt(t *testing.T) {
	in := input(t, filepath.Join(t.TempDir(), "lines"), "one\n\ntwo\nthree\n")
	out := &slabs{}
	out.settle = func(_ int, m *message.Message) component.Outcome {
		if string(m.Body) == "two" {
			return component.Again(0, io.ErrUnexpectedEOF)
		}
		return component.Outcome{}
	}
	s := start(t, Config{}, in)
	if err := s.Run(t.Context(), out); err != nil {
		t.Fatal(err)
	}
	if got := out.bodies(); !slices.Equal(got, []string{"one", "two", "three", "two"}) {
		t.Fatalf("%q came", got)
	}
	first, again := out.got[1], out.got[3]
	if first.ID != again.ID || first.Origin != again.Origin || first.Origin.Offset != 5 || first.Origin.Mark != 0 {
		t.Errorf("first %+v, then %+v", first.Origin, again.Origin)
	}
	if low := s.mark.Low(); low != 15 {
		t.Errorf("everything below %d is settled, not 15", low)
	}
}
