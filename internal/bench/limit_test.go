package bench

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func openLimit(t *testing.T) (*rawLog, string) {
	t.Helper()
	dir := t.TempDir()
	r, err := newRawLog(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.close(); err != nil {
			t.Error(err)
		}
	})
	return r, filepath.Join(dir, "limit")
}

func TestLimitWritesWhatItSaysIntoSpaceThatIsThere(t *testing.T) {
	r, name := openLimit(t)
	if err := r.carry(16, 100.25); err != nil {
		t.Fatal(err)
	}
	s, err := r.run(t.Context(), time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	if s.n != 16 || len(s.calls) != 1 || s.elapsed < s.calls[0] {
		t.Errorf("one piece of 16 messages counts as %+v", s)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) != rawBytes {
		t.Errorf("the file has %d bytes: its size changed", len(b))
	}
	if !slices.Equal(b[:1604], r.piece) || slices.ContainsFunc(b[1604:], func(c byte) bool { return c != 0 }) {
		t.Error("what was written is not the piece and nothing else")
	}
}

func TestLimitBeginsAgainAtTheEndOfItsFile(t *testing.T) {
	r, _ := openLimit(t)
	if err := r.carry(1, rawBytes/2+1); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := r.run(t.Context(), time.Nanosecond); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := r.file.Stat(); err != nil || st.Size() != rawBytes {
		t.Errorf("the file grew: %v, %v", st, err)
	}
}

func TestLimitRefusesPiecesThatMeanNothing(t *testing.T) {
	r, _ := openLimit(t)
	for _, each := range []float64{0, -1, rawBytes + 1} {
		if err := r.carry(1, each); err == nil {
			t.Errorf("a piece of %v bytes was accepted", each)
		}
	}
}

func TestLimitStopsWithItsContext(t *testing.T) {
	r, _ := openLimit(t)
	if err := r.carry(1, 64); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.run(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	if _, err := newRawLog(ctx, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("a file for an ended context: %v", err)
	}
}
