package journaltest

import (
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/internal/journal"
)

func testReopen(t *testing.T, h Harness) {
	var want []scanned
	for round := range 5 {
		j := open(t, h)
		if diff := cmp.Diff(want, scan(t, j, 0)); diff != "" {
			t.Fatalf("after opening %d times:\n%s", round+1, diff)
		}
		for n := range 10 {
			r := message(round*10+n, 300)
			want = append(want, scanned{appendWait(t, j, r), withoutBodies([]journal.Record{r})})
		}
		end := j.End()
		shut(t, j)
		j = open(t, h)
		if j.End() != end {
			t.Fatalf("the end is %d after reopening, it was %d", j.End(), end)
		}
		shut(t, j)
	}
}

// testLocked: two that append to one log would each overwrite what the other acknowledged.
func testLocked(t *testing.T, h Harness) {
	j := open(t, h)
	if second, err := h.Open(); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("a second opening answers %v", err)
		if err == nil {
			shut(t, second)
		}
	}
	appendWait(t, j, message(1, 10))
	shut(t, j)
	appendWait(t, open(t, h), message(2, 10))
}

func testClose(t *testing.T, h Harness) {
	j, err := h.Open()
	if err != nil {
		t.Fatal(err)
	}
	called := 0
	for n := range 20 {
		if err := j.Append([]journal.Record{settle(n)}, func(_ journal.Position, err error, _ int) {
			called++
			if err != nil {
				t.Errorf("done: %v", err)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	shut(t, j)
	if called != 20 {
		t.Errorf("close returned after %d of 20 done functions", called)
	}
	shut(t, j)
	never := func(journal.Position, error, int) { t.Error("done was called after Close") }
	for what, err := range map[string]error{
		"append":     j.Append([]journal.Record{settle(1)}, never),
		"write":      j.Write([]journal.Record{settle(1)}),
		"flush":      j.Flush(),
		"sync":       j.Sync(t.Context()),
		"read":       j.Read(t.Context(), []journal.Address{{Position: 1}}, func(int, journal.Record, error) {}),
		"checkpoint": j.SaveCheckpoint(t.Context(), 0, func(io.Writer) error { return nil }),
	} {
		if !errors.Is(err, journal.ErrClosed) {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
	for _, err := range j.Scan(t.Context(), 0) {
		if !errors.Is(err, journal.ErrClosed) {
			t.Errorf("scan after Close: %v", err)
		}
	}
	j = open(t, h)
	if n := len(scan(t, j, 0)); n != 20 {
		t.Errorf("%d groups after reopening, not 20", n)
	}
}
