package journaltest

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
)

func saveCheckpoint(t *testing.T, j journal.Journal, at journal.Position, state []byte) {
	t.Helper()
	err := j.SaveCheckpoint(t.Context(), at, func(w io.Writer) error {
		_, err := w.Write(state)
		return err
	})
	if err != nil {
		t.Fatalf("save checkpoint: %v", err)
	}
}

// mustLoad fails unless the newest sound checkpoint is the one given.
func mustLoad(t *testing.T, j journal.Journal, at journal.Position, state []byte, skips int) {
	t.Helper()
	got, r, skipped, err := j.LoadCheckpoint(t.Context())
	if err != nil {
		t.Fatalf("load checkpoint: %v", err)
	}
	b, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatalf("read checkpoint: %v", err)
	}
	if got != at || !bytes.Equal(b, state) || len(skipped) != skips {
		t.Fatalf("loaded the checkpoint at %d with %d bytes, passing over %v; want the one at %d with %d bytes", got,
			len(b), skipped, at, len(state))
	}
}

func testCheckpoint(t *testing.T, h Harness) {
	j := open(t, h)
	if _, _, _, err := j.LoadCheckpoint(t.Context()); !errors.Is(err, journal.ErrNoCheckpoint) {
		t.Fatalf("without a checkpoint: %v", err)
	}
	saveCheckpoint(t, j, 0, nil)
	mustLoad(t, j, 0, nil, 0)
	var at journal.Position
	var state []byte
	for n := range 5 {
		at = appendWait(t, j, message(n, 100))
		state = bytes.Repeat([]byte{byte(n), 'x'}, n*200_000)
		saveCheckpoint(t, j, at, state)
		mustLoad(t, j, at, state, 0)
	}
	if st := j.Stats(); st.Checkpoint != at {
		t.Errorf("stats tell of a checkpoint at %d, not %d", st.Checkpoint, at)
	}
	after := appendWait(t, j, settle(9))
	shut(t, j)
	j = open(t, h)
	mustLoad(t, j, at, state, 0)
	if groups := scan(t, j, at); len(groups) != 1 || groups[0].Position != after {
		t.Errorf("behind the checkpoint are %v", groups)
	}
}

func testDamagedCheckpoint(t *testing.T, h Harness) {
	j := open(t, h)
	j.Keep(slices.Values([]journal.Address(nil)))
	fill(t, j, 100, 900)
	older := j.End()
	saveCheckpoint(t, j, older, []byte("older"))
	addrs, _ := fill(t, j, 100, 900)
	j.ReleaseBefore(j.End())
	saveCheckpoint(t, j, j.End(), []byte("newer"))
	shut(t, j)
	if err := h.DamageCheckpoint(); err != nil {
		t.Fatal(err)
	}
	j = open(t, h)
	mustLoad(t, j, older, []byte("older"), 1)
	// What a start from the older one needs is there.
	groups := scan(t, j, older)
	if len(groups) != len(addrs) {
		t.Fatalf("%d groups are behind the older checkpoint, not %d", len(groups), len(addrs))
	}
	for i, g := range groups {
		if g.Position != addrs[i].Position {
			t.Fatalf("group %d is at %d, not %d", i, g.Position, addrs[i].Position)
		}
	}
	saveCheckpoint(t, j, j.End(), []byte("newest"))
	mustLoad(t, j, j.End(), []byte("newest"), 0)
	shut(t, j)
	j = open(t, h)
	mustLoad(t, j, j.End(), []byte("newest"), 0)
}

func testFailedCheckpoint(t *testing.T, h Harness) {
	j := open(t, h)
	at := appendWait(t, j, message(1, 10))
	saveCheckpoint(t, j, at, []byte("first"))
	broken := errors.New("broken")
	err := j.SaveCheckpoint(t.Context(), appendWait(t, j, message(2, 10)), func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Fatalf("a checkpoint whose writing failed: %v", err)
	}
	if err := j.SaveCheckpoint(t.Context(), j.End()+1, func(io.Writer) error { return nil }); err == nil {
		t.Error("a checkpoint behind the end of the log was saved")
	}
	mustLoad(t, j, at, []byte("first"), 0)
	shut(t, j)
	mustLoad(t, open(t, h), at, []byte("first"), 0)
}
