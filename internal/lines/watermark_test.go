package lines

import (
	"testing"

	"pgregory.net/rapid"
)

func TestTheMarkIsTheLowestOffsetNotSettled(t *testing.T) {
	w := NewWatermark(10)
	if low := w.Low(); low != 10 {
		t.Fatalf("at the beginning: %d", low)
	}
	if low := w.Begin(10, 20); low != 10 {
		t.Fatalf("with the first line: %d", low)
	}
	w.Begin(20, 30)
	w.Begin(30, 40)
	w.Settle(20)
	if low := w.Low(); low != 10 {
		t.Fatalf("the first line is not settled: %d", low)
	}
	w.Settle(10)
	if low := w.Low(); low != 30 {
		t.Fatalf("two are settled: %d", low)
	}
	w.Settle(30)
	w.Skip(45)
	if low, open := w.Low(), w.Open(); low != 45 || open != 0 {
		t.Fatalf("all are settled: %d with %d open", low, open)
	}
}

func TestSettlingTwiceOrWhatIsNotThereChangesNothing(t *testing.T) {
	w := NewWatermark(0)
	w.Begin(0, 5)
	w.Begin(5, 9)
	w.Settle(5)
	w.Settle(5)
	w.Settle(7)
	if low, open := w.Low(), w.Open(); low != 0 || open != 1 {
		t.Fatalf("low %d, open %d", low, open)
	}
}

func TestMemoryFollowsTheLinesUnderWayNotThoseBehindAStuckOne(t *testing.T) {
	w := NewWatermark(0)
	w.Begin(0, 1) // never settled
	for i := int64(1); i < 100_000; i++ {
		w.Begin(i, i+1)
		w.Settle(i)
	}
	if n := cap(w.open); n > 1000 {
		t.Fatalf("%d places are kept for one line under way", n)
	}
	w.Settle(0)
	if low := w.Low(); low != 100_000 {
		t.Fatalf("low %d", low)
	}
}

func TestAWatermarkIsTheMinimumOfASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := NewWatermark(0)
		open := map[int64]bool{}
		var next int64
		low := func() int64 {
			least := next
			for o := range open {
				least = min(least, o)
			}
			return least
		}
		t.Repeat(map[string]func(*rapid.T){
			"begin": func(t *rapid.T) {
				at := next
				next += rapid.Int64Range(1, 9).Draw(t, "length")
				open[at] = true
				if got := w.Begin(at, next); got != low() {
					t.Fatalf("Begin says %d, the model %d", got, low())
				}
			},
			"settle": func(t *rapid.T) {
				o := rapid.Int64Range(0, next).Draw(t, "offset")
				delete(open, o)
				w.Settle(o)
			},
			"": func(t *rapid.T) {
				if got, want := w.Low(), low(); got != want || w.Open() != len(open) {
					t.Fatalf("low %d with %d open, the model says %d with %d", got, w.Open(), want, len(open))
				}
			},
		})
	})
}
