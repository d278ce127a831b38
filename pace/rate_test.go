package pace_test

import (
	"errors"
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/pace"
)

// drawn is a rate and the exact time between two of its frames, in nanoseconds.
func drawn(t *rapid.T) (pace.Rate, *big.Rat) {
	if rapid.Bool().Draw(t, "per second") {
		num := rapid.Int64Range(1, 1_000_000).Draw(t, "num")
		den := rapid.Int64Range(1, 100_000).Draw(t, "den")
		r, err := pace.PerSecond(num, den)
		if err != nil {
			t.Fatal(err)
		}
		return r, new(big.Rat).Mul(big.NewRat(den, num), big.NewRat(int64(time.Second), 1))
	}
	span := rapid.Int64Range(1, math.MaxInt64).Draw(t, "span")
	n := rapid.Int64Range(1, span).Draw(t, "n")
	r, err := pace.Every(n, time.Duration(span))
	if err != nil {
		t.Fatal(err)
	}
	return r, big.NewRat(span, n)
}

func TestDeadlinesAreExactForDaysAndYears(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, interval := drawn(t)
		n := rapid.OneOf(rapid.Int64Range(0, 100*86400*60), rapid.Int64()).Draw(t, "frame")
		got := r.Deadline(n)
		exact := new(big.Rat).Mul(interval, new(big.Rat).SetInt64(max(n, 0)))
		if exact.Cmp(new(big.Rat).SetInt64(math.MaxInt64)) >= 0 {
			if got != math.MaxInt64 {
				t.Fatalf("%v: frame %d at %d, beyond the last one that can be told", r, n, got)
			}
			return
		}
		// Less than a nanosecond later, and never earlier.
		if d := new(big.Rat).Sub(new(big.Rat).SetInt64(int64(got)), exact); d.Sign() < 0 ||
			d.Cmp(big.NewRat(1, 1)) >= 0 {
			t.Fatalf("%v: frame %d at %d ns, that is %s ns off", r, n, got, d.FloatString(3))
		}
	})
}

func TestADayOfNTSCDoesNotDrift(t *testing.T) {
	r, err := pace.PerSecond(60000, 1001)
	if err != nil || r != pace.NTSC() {
		t.Fatal(r, err)
	}
	// 1001 seconds are 60,000 frames; so are all their multiples, whatever came before.
	for k := int64(0); k <= 10*86400/1001; k++ {
		if got, want := r.Deadline(k*60000), time.Duration(k)*1001*time.Second; got != want {
			t.Fatalf("frame %d at %v, want %v", k*60000, got, want)
		}
	}
	last := time.Duration(0)
	for n := int64(1); n <= 86400*60; n++ { // a day
		now := r.Deadline(n)
		if d := now - last; d != 16_683_333 && d != 16_683_334 {
			t.Fatalf("frame %d comes %d ns after the one before it", n, d)
		}
		last = now
	}
	if want := time.Duration(86400*60) * 50_050_000 / 3; last != want {
		t.Errorf("the last frame at %v, want %v", last, want)
	}
}

func TestFrameIsTheInverseOfDeadline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, _ := drawn(t)
		at := time.Duration(rapid.Int64Range(0, math.MaxInt64-1).Draw(t, "at"))
		n := r.Frame(at)
		if r.Deadline(n) > at {
			t.Fatalf("%v: frame %d at %d is due at %d", r, n, at, r.Deadline(n))
		}
		if next := r.Deadline(n + 1); next <= at && next != math.MaxInt64 {
			t.Fatalf("%v: at %d it is frame %d, though %d is due at %d", r, at, n, n+1, next)
		}
	})
}

func TestNoRateIsNoRate(t *testing.T) {
	var none pace.Rate
	if !none.IsZero() || none.Deadline(7) != 0 || none.Frame(time.Hour) != -1 || none.Interval() != 0 ||
		none.PerSecond() != 0 || none.String() != "none" {
		t.Error("the zero rate is something")
	}
	r := pace.NTSC()
	if r.Deadline(-5) != 0 || r.Frame(-1) != -1 || r.Frame(0) != 0 || r.IsZero() {
		t.Error("before the beginning")
	}
	if got := r.PerSecond(); math.Abs(got-59.94005994) > 1e-8 {
		t.Errorf("%v a second", got)
	}
	if got := r.Interval(); got != 16_683_333 {
		t.Errorf("%v between frames", got)
	}
}

func TestRatesThatCannotBeAreRefused(t *testing.T) {
	for name, make := range map[string]func() (pace.Rate, error){
		"none":        func() (pace.Rate, error) { return pace.PerSecond(0, 1) },
		"negative":    func() (pace.Rate, error) { return pace.PerSecond(-60, 1) },
		"over none":   func() (pace.Rate, error) { return pace.PerSecond(60, 0) },
		"too slow":    func() (pace.Rate, error) { return pace.PerSecond(1, math.MaxInt64) },
		"too fast":    func() (pace.Rate, error) { return pace.PerSecond(2_000_000_000, 1) },
		"no time":     func() (pace.Rate, error) { return pace.Every(1, 0) },
		"before time": func() (pace.Rate, error) { return pace.Every(1, -1) },
	} {
		if r, err := make(); !errors.Is(err, pace.ErrRate) || !r.IsZero() {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}
