package harness

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

func openLimit(t *testing.T) (*RawLog, string) {
	t.Helper()
	dir := t.TempDir()
	r, err := NewRawLog(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, filepath.Join(dir, "limit")
}

func writerOf(t *testing.T, r *RawLog, n int64, each float64) *RawWriter {
	t.Helper()
	w, err := r.Writer(n, each)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestSeveralWritersOfOneLimitWriteBehindEachOther(t *testing.T) {
	r, _ := openLimit(t)
	for i, w := range []*RawWriter{writerOf(t, r, 1, 100), writerOf(t, r, 3, 100), writerOf(t, r, 1, 100)} {
		s, err := w.Run(t.Context(), time.Nanosecond)
		if err != nil || s.N != w.Carries {
			t.Errorf("writer %d wrote %d messages: %v", i, s.N, err)
		}
	}
	if r.At != 500 {
		t.Errorf("five messages of 100 bytes end at %d", r.At)
	}
}

func TestBandwidthIsOfPiecesThatMakeTheSyncCheap(t *testing.T) {
	r, _ := openLimit(t)
	w, err := r.Bandwidth(1100)
	if err != nil {
		t.Fatal(err)
	}
	if n := int64(len(w.Piece)); n < BandwidthPiece*9/10 || n > BandwidthPiece*11/10 ||
		w.Carries != BandwidthPiece/1100 {
		t.Errorf("a piece has %d bytes and stands for %d messages of 1100", n, w.Carries)
	}
}

func TestLimitWritesWhatItSaysIntoSpaceThatIsThere(t *testing.T) {
	r, name := openLimit(t)
	w := writerOf(t, r, 16, 100.25)
	s, err := w.Run(t.Context(), time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	if s.N != 16 || len(s.Calls) != 1 || s.Elapsed < s.Calls[0] {
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
	if !slices.Equal(b[:1604], w.Piece) || slices.ContainsFunc(b[1604:], func(c byte) bool { return c != 0 }) {
		t.Error("what was written is not the piece and nothing else")
	}
}

func TestLimitBeginsAgainAtTheEndOfItsFile(t *testing.T) {
	r, _ := openLimit(t)
	w := writerOf(t, r, 1, rawBytes/2+1)
	for range 3 {
		if _, err := w.Run(t.Context(), time.Nanosecond); err != nil {
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
		if _, err := r.Writer(1, each); err == nil {
			t.Errorf("a piece of %v bytes was accepted", each)
		}
	}
}

func TestLimitStopsWithItsContext(t *testing.T) {
	r, _ := openLimit(t)
	w := writerOf(t, r, 1, 64)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Run(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
	if _, err := NewRawLog(ctx, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("a file for an ended context: %v", err)
	}
}
