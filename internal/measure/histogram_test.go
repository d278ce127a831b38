package measure

import (
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestEmptyHistogramIsAllZero(t *testing.T) {
	h := NewHistogram()
	if s := h.Summary(); s != (Summary{}) {
		t.Errorf("summary is %+v", s)
	}
	h.Merge(NewHistogram())
	if h.Count() != 0 || h.Mean() != 0 || h.Min() != 0 || h.Max() != 0 || h.Quantile(0.5) != 0 {
		t.Errorf("not all zero: %+v", h.Summary())
	}
}

func TestQuantilesAreWithinThreeDigitsOfTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, int64(longest)), 1, 300).Draw(t, "values")
		h := NewHistogram()
		sum := 0.0
		for _, v := range values {
			h.Record(time.Duration(v))
			sum += float64(v)
		}
		slices.Sort(values)
		for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 1} {
			// Between two values either will do.
			rank := q * float64(len(values))
			low := float64(values[max(1, int(rank-1e-9))-1])
			high := float64(values[min(max(1, int(math.Ceil(rank+1e-9))), len(values))-1])
			if got := float64(h.Quantile(q)); got < low-low/1000-1 || got > high+high/1000+1 {
				t.Fatalf("quantile %v is %v, want %v to %v", q, got, low, high)
			}
		}
		if h.Min() != time.Duration(values[0]) || h.Max() != time.Duration(values[len(values)-1]) {
			t.Fatalf("from %v to %v, want %v to %v", h.Min(), h.Max(), values[0], values[len(values)-1])
		}
		if want := sum / float64(len(values)); math.Abs(float64(h.Mean())-want) > 1+want*1e-9 {
			t.Fatalf("mean is %v, want %v", h.Mean(), want)
		}
		if h.Count() != int64(len(values)) {
			t.Fatalf("count is %d, want %d", h.Count(), len(values))
		}
	})
}

func TestQuantilesNeverLeaveTheRangeOfWhatWasRecorded(t *testing.T) {
	h := NewHistogram()
	h.Record(1234567 * time.Nanosecond)
	for _, q := range []float64{-1, 0, 0.5, 0.999, 1, 2, math.NaN()} {
		if d := h.Quantile(q); d != 1234567 {
			t.Errorf("quantile %v of a single value is %d", q, d)
		}
	}
}

func TestValuesOutsideTheRangeAreCountedToo(t *testing.T) {
	h := NewHistogram()
	h.Record(-time.Second)
	h.Record(100 * time.Hour)
	h.RecordN(time.Second, 0)
	h.RecordN(time.Second, -3)
	if h.Count() != 2 || h.Min() != 0 || h.Max() != 100*time.Hour || h.Mean() != 50*time.Hour {
		t.Errorf("summary is %+v", h.Summary())
	}
}

func TestMergeIsAsIfAllHadBeenRecordedInOne(t *testing.T) {
	a, b, all := NewHistogram(), NewHistogram(), NewHistogram()
	for i := range 1000 {
		d := time.Duration(i*i) * time.Microsecond
		all.Record(d)
		if i%3 == 0 {
			a.Record(d)
		} else {
			b.Record(d)
		}
	}
	a.Merge(b)
	if a.Summary() != all.Summary() {
		t.Errorf("merged: %+v, recorded in one: %+v", a.Summary(), all.Summary())
	}
	a.Merge(a)
	if a.Count() != 2000 || a.Mean() != all.Mean() {
		t.Errorf("merged with itself: %+v", a.Summary())
	}
}

func TestSnapshotStaysAsItWas(t *testing.T) {
	h := NewHistogram()
	h.RecordN(time.Millisecond, 5)
	s := h.Snapshot()
	h.Record(time.Second)
	if s.Count() != 5 || s.Max() != time.Millisecond {
		t.Errorf("the snapshot is %+v", s.Summary())
	}
	h.Reset()
	if h.Summary() != (Summary{}) || s.Count() != 5 {
		t.Errorf("after Reset: %+v, the snapshot %+v", h.Summary(), s.Summary())
	}
}

func TestManyMayRecordAtOnce(t *testing.T) {
	h, other := NewHistogram(), NewHistogram()
	var wg sync.WaitGroup
	for p := range 8 {
		wg.Go(func() {
			for i := range 1000 {
				h.Record(time.Duration(i))
				if i%100 == p {
					h.Merge(other)
					other.Merge(h.Snapshot())
					other.Reset()
					_ = h.Summary()
				}
			}
		})
	}
	wg.Wait()
	if h.Count() < 8000 {
		t.Errorf("count is %d", h.Count())
	}
}

func BenchmarkRecord(b *testing.B) {
	h := NewHistogram()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for d := time.Duration(1); pb.Next(); d += 977 {
			h.Record(d % time.Second)
		}
	})
}
