package queue

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

func TestHandOverIsFromDurableToTheOneThatWaits(t *testing.T) {
	for _, others := range []int{0, 7} {
		h, err := openHall(t.Context(), t.TempDir(), others)
		if err != nil {
			t.Fatal(err)
		}
		s, err := h.Run(t.Context(), 5*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		st, err := h.rig.Store.Stats(t.Context(), harness.Measured)
		if err != nil {
			t.Fatal(err)
		}
		if s.N == 0 || int64(len(s.Calls)) != s.N || uint64(s.N) != st.TotalDone || st.TotalPut != st.TotalDone ||
			st.TotalClaims != st.TotalDone {
			t.Errorf("%d handed over, %d put, %d claimed, %d settled", s.N, st.TotalPut, st.TotalClaims, st.TotalDone)
		}
		if st.Waiters != others {
			t.Errorf("%d wait, of %d others", st.Waiters, others)
		}
		sum := time.Duration(0)
		for _, d := range s.Calls {
			sum += d
		}
		if sum <= 0 || sum > s.Elapsed {
			t.Errorf("%d messages were on their way for %v, in %v", s.N, sum, s.Elapsed)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestHallThatCannotFillEmptiesItself(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if _, err := openHall(ctx, dir, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}
