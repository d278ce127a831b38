package journaltest

import (
	"errors"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// testDoubt: where what is durable is in doubt the process has to end. The next one looks.
func testDoubt(t *testing.T, h Harness, f Faults) {
	j, err := h.Open()
	if err != nil {
		t.Fatal(err)
	}
	before := appendWait(t, j, message(1, 100))
	f.Break(true)
	if _, err := appendSync(j, []journal.Record{message(2, 100)}); err == nil {
		t.Fatal("a group is durable on a medium that is broken")
	}
	f.Break(false)
	if err := j.Health(); !errors.Is(err, journal.ErrFailed) || errors.Is(err, journal.ErrReopen) {
		t.Errorf("health after what is in doubt: %v", err)
	}
	if r, some := j.(journal.Reopener); some {
		next, err := r.Reopen(t.Context())
		if err == nil {
			t.Error("what is in doubt was opened again")
			_ = next.Close()
		} else if errors.Is(err, journal.ErrReopen) {
			t.Errorf("what is in doubt may be opened again later: %v", err)
		}
	}
	_ = j.Close() // which may say so once more
	j = open(t, h)
	if groups := scan(t, j, 0); len(groups) == 0 || groups[0].Position != before {
		t.Errorf("the next process finds %v", groups)
	}
}

// testReopenFailed: a log that failed without anything being in doubt goes on in the same process. All that was durable
// is there, of a group of unknown fate the whole or nothing, and of what was refused nothing.
func testReopenFailed(t *testing.T, h Harness, f Faults) {
	if f.Reject == nil {
		t.Skip("nobody can tell of this medium what is in no doubt")
	}
	j, err := h.Open()
	if err != nil {
		t.Fatal(err)
	}
	var want []journal.Position
	for n := range 3 { // it fails more than once
		want = append(want, appendWait(t, j, message(10*n, 100), message(10*n+1, 100)))
		unknown := interrupt(t, j, f, 10*n)
		j = reopen(t, j)
		groups := scan(t, j, 0)
		if n := len(groups); n == len(want)+1 && sameHeads(groups[n-1].Records, unknown) {
			want = append(want, groups[n-1].Position)
		}
		if len(groups) != len(want) {
			t.Fatalf("opened again, the log has %d groups, %d were durable", len(groups), len(want))
		}
		for i := range groups {
			if groups[i].Position != want[i] || len(groups[i].Records) != 2 {
				t.Errorf("opened again, group %d is at %d with %d records, it was at %d", i, groups[i].Position,
					len(groups[i].Records), want[i])
			}
		}
	}
	mustRead(t, j, []journal.Address{{Position: want[0], Index: 1}}, []journal.Record{message(1, 100)})
	shut(t, j)
}

// interrupt has a log fail at a group, whose fate is unknown then, and looks that nothing is taken after it.
func interrupt(t *testing.T, j journal.Journal, f Faults, n int) (unknown []journal.Record) {
	t.Helper()
	f.Reject(true)
	unknown = []journal.Record{message(n+2, 100), message(n+3, 100)}
	if _, err := appendSync(j, unknown); !errors.Is(err, journal.ErrUnknown) && !errors.Is(err, journal.ErrFailed) {
		t.Fatalf("a group on a medium that refuses it: %v", err)
	}
	f.Reject(false) // it would be taken now
	never := func(journal.Position, error, int) { t.Error("done was called for a group that was refused") }
	for what, err := range map[string]error{
		"append": j.Append([]journal.Record{message(n+4, 100)}, never),
		"write":  j.Write([]journal.Record{settle(n + 5)}),
		"health": j.Health(),
	} {
		if !errors.Is(err, journal.ErrFailed) || !errors.Is(err, journal.ErrReopen) {
			t.Errorf("%s after a group that the medium refused: %v", what, err)
		}
	}
	select {
	case <-j.Failed():
	default:
		t.Error("nobody is told that the journal has failed")
	}
	return unknown
}

// testReopenSound: who opens several logs again that belong together opens those again, too, that have not failed.
func testReopenSound(t *testing.T, h Harness, _ Faults) {
	j, err := h.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, some := j.(journal.Reopener); !some {
		shut(t, j)
		t.Skip("it cannot be opened again")
	}
	before := appendWait(t, j, message(1, 100))
	old := j
	j = reopen(t, j)
	if err := old.Health(); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("health of what was opened again: %v", err)
	}
	if groups := scan(t, j, 0); len(groups) != 1 || groups[0].Position != before {
		t.Errorf("opened again, the log has %v", groups)
	}
	shut(t, j)
}

func reopen(t *testing.T, j journal.Journal) journal.Journal {
	t.Helper()
	r, some := j.(journal.Reopener)
	if !some {
		t.Fatal("it says that it may be opened again, and cannot be")
	}
	next, err := r.Reopen(t.Context())
	if err != nil {
		t.Fatalf("open it again: %v", err)
	}
	if err := next.Health(); err != nil {
		t.Errorf("health of what was opened again: %v", err)
	}
	return next
}

func sameHeads(got, want []journal.Record) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if string(got[i].Head) != string(want[i].Head) {
			return false
		}
	}
	return true
}
