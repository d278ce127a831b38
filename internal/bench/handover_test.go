package bench

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestHandOverIsFromDurableToTheOneThatWaits(t *testing.T) {
	for _, others := range []int{0, 7} {
		h, err := openHall(t.Context(), t.TempDir(), others)
		if err != nil {
			t.Fatal(err)
		}
		s, err := h.run(t.Context(), 5*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		st, err := h.rig.store.Stats(measured)
		if err != nil {
			t.Fatal(err)
		}
		if s.n == 0 || int64(len(s.calls)) != s.n || uint64(s.n) != st.TotalDone || st.TotalPut != st.TotalDone ||
			st.TotalClaims != st.TotalDone {
			t.Errorf("%d handed over, %d put, %d claimed, %d settled", s.n, st.TotalPut, st.TotalClaims, st.TotalDone)
		}
		if st.Waiters != others {
			t.Errorf("%d wait, of %d others", st.Waiters, others)
		}
		sum := time.Duration(0)
		for _, d := range s.calls {
			sum += d
		}
		if sum <= 0 || sum > s.elapsed {
			t.Errorf("%d messages were on their way for %v, in %v", s.n, sum, s.elapsed)
		}
		if err := h.close(); err != nil {
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
