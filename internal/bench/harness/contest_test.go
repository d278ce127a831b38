package harness

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"
)

// scripted is a side that says what it was told to say.
type scripted struct {
	name   string
	rates  []int64 // messages in a second, one a slice
	err    error   // after them
	called *[]string
}

func (s *scripted) Run(context.Context, time.Duration) (Sample, error) {
	*s.called = append(*s.called, s.name)
	if len(s.rates) == 0 {
		return Sample{}, s.err
	}
	n := s.rates[0]
	s.rates = s.rates[1:]
	return Sample{N: n, Elapsed: time.Second, Calls: []time.Duration{time.Duration(n) * time.Millisecond}}, nil
}

func TestSidesTakeTurnsAndEachGoesFirstEveryOtherTime(t *testing.T) {
	var called []string
	a := &scripted{name: "a", rates: []int64{10, 10, 10}, called: &called}
	b := &scripted{name: "b", rates: []int64{10, 10, 10}, called: &called}
	ticks := 0
	if _, err := (Pacing{Pairs: 3}).Alternate(t.Context(), func() { ticks++ }, ByRate, a, b); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "b", "a", "a", "b"}; !slices.Equal(called, want) {
		t.Errorf("turns %v, want %v", called, want)
	}
	if ticks != 3 {
		t.Errorf("%d ticks of progress for 3 pairs", ticks)
	}
}

func TestSeveralPeersAreComparedWithOursInTheSameRound(t *testing.T) {
	var called []string
	a := &scripted{name: "a", rates: []int64{10, 20, 30}, called: &called}
	b := &scripted{name: "b", rates: []int64{20, 40, 60}, called: &called}
	c := &scripted{name: "c", rates: []int64{5, 10, 15}, called: &called}
	got, err := (Pacing{Pairs: 3}).Alternate(t.Context(), func() {}, ByRate, a, b, c)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "c", "b", "c", "a", "c", "a", "b"}; !slices.Equal(called, want) {
		t.Errorf("turns %v, want %v", called, want)
	}
	if !slices.Equal(got.Peers[0].Ratios, []float64{0.5, 0.5, 0.5}) ||
		!slices.Equal(got.Peers[1].Ratios, []float64{2, 2, 2}) {
		t.Errorf("ratios %v and %v", got.Peers[0].Ratios, got.Peers[1].Ratios)
	}
}

func TestWhatTwoSlicesAreComparedBy(t *testing.T) {
	ours := Sample{N: 100, Elapsed: time.Second, Calls: []time.Duration{4, 1, 2, 3, 100}}
	peer := Sample{N: 200, Elapsed: time.Second, Calls: []time.Duration{1, 1, 1, 2, 10}}
	for name, c := range map[string]struct {
		by   Compare
		want float64
	}{
		"rate":   {ByRate, 0.5},
		"cost":   {ByCost, 2},
		"median": {ByTime(0.5), 3},
		"worst":  {ByTime(1), 10},
	} {
		if got := c.by(ours, peer); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("by %s: %v, want %v", name, got, c.want)
		}
	}
}

// A disk that is ten times as slow for one pair changes both sides and so not their ratio.
func TestRatioIsOfNeighboursNotOfTotals(t *testing.T) {
	var called []string
	a := &scripted{name: "a", rates: []int64{500, 50, 500}, called: &called}
	b := &scripted{name: "b", rates: []int64{1000, 100, 1000}, called: &called}
	c, err := (Pacing{Pairs: 3}).Alternate(t.Context(), func() {}, ByRate, a, b)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{0.5, 0.5, 0.5}; !slices.Equal(c.Peers[0].Ratios, want) {
		t.Errorf("ratios %v, want %v", c.Peers[0].Ratios, want)
	}
	limit := c.Peers[0]
	if c.Ours.N != 1050 || limit.N != 2100 || c.Ours.Elapsed != 3*time.Second || c.Ours.Calls.Count() != 3 ||
		limit.Calls.Max() != time.Second {
		t.Errorf("totals %+v and %+v", c.Ours, limit)
	}
}

func TestAFailureOfEitherSideEndsTheContest(t *testing.T) {
	broken := errors.New("disk is gone")
	for name, rates := range map[string][2][]int64{"ours": {{1}, {1, 1, 1}}, "limit": {{1, 1, 1}, {1}}} {
		var called []string
		a := &scripted{name: "a", rates: rates[0], err: broken, called: &called}
		b := &scripted{name: "b", rates: rates[1], err: broken, called: &called}
		if _, err := (Pacing{Pairs: 3}).Alternate(t.Context(), func() {}, ByRate, a, b); !errors.Is(err, broken) {
			t.Errorf("%s failed: %v", name, err)
		}
	}
}

func TestASliceWithoutWorkIsAnErrorNotARatio(t *testing.T) {
	var called []string
	a := &scripted{name: "a", rates: []int64{0}, called: &called}
	b := &scripted{name: "b", rates: []int64{1}, called: &called}
	if _, err := (Pacing{Pairs: 1}).Alternate(t.Context(), func() {}, ByRate, a, b); err == nil {
		t.Error("a slice in which nothing was done was compared")
	}
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		values  []float64
		q, want float64
	}{
		{nil, 0.5, 0},
		{[]float64{3}, 0.25, 3},
		{[]float64{1, 2, 3}, 0.5, 2},
		{[]float64{1, 2}, 0.5, 1.5},
		{[]float64{1, 2, 3, 4, 5}, 0.25, 2},
		{[]float64{0, 10}, 0.75, 7.5},
		{[]float64{1, 2, 9}, 1, 9},
		{[]float64{1, 2, 9}, 0, 1},
	} {
		if got := Quantile(c.values, c.q); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("quantile(%v, %v) = %v, want %v", c.values, c.q, got, c.want)
		}
	}
}

func TestCrowdReturnsTheFirstErrorAndStopsTheOthers(t *testing.T) {
	broken := errors.New("broken")
	stopped := make(chan struct{}, 3)
	err := Crowd(t.Context(), 4, func(ctx context.Context, i int) error {
		if i == 2 {
			return broken
		}
		<-ctx.Done()
		stopped <- struct{}{}
		return ctx.Err()
	})
	if !errors.Is(err, broken) || len(stopped) != 3 {
		t.Errorf("%v, and %d of 3 others stopped", err, len(stopped))
	}
}

func TestCrowdWithoutErrorsReturnsNone(t *testing.T) {
	done := make(chan int, 8)
	if err := Crowd(t.Context(), 8, func(_ context.Context, i int) error { done <- i; return nil }); err != nil ||
		len(done) != 8 {
		t.Errorf("%v after %d of 8", err, len(done))
	}
}
