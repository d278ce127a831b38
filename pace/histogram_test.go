package pace_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/pace"
)

func TestQuantilesAreTrueToABin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 200), rapid.Int64Range(0, int64(time.Hour)),
			rapid.Int64Range(0, math.MaxInt64/200)), 1, 100).Draw(t, "values")
		var h pace.Histogram
		for _, v := range values {
			h.Add(time.Duration(v))
		}
		slices.Sort(values)
		for _, share := range []float64{0, 0.5, 0.9, 0.99, 0.999, 1} {
			want := values[max(0, int(math.Ceil(share*float64(len(values))))-1)]
			got := int64(h.Quantile(share))
			if got < want || float64(got-want) > float64(want)*0.032 {
				t.Fatalf("quantile %v of %v is %d, want %d", share, values, got, want)
			}
		}
		if h.Count() != int64(len(values)) || int64(h.Max()) != values[len(values)-1] {
			t.Fatalf("%v", h)
		}
		n, last := int64(0), time.Duration(-1)
		h.Each(func(from, to time.Duration, count int64) bool {
			if from <= last || to <= from {
				t.Fatalf("a bin from %d to %d after one that begins at %d", from, to, last)
			}
			n, last = n+count, from
			return true
		})
		if n != h.Count() {
			t.Fatalf("the bins have %d, the histogram %d", n, h.Count())
		}
		b, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		var read pace.Histogram
		if err := json.Unmarshal(b, &read); err != nil || read != h {
			t.Fatalf("%s: %v", b, err)
		}
	})
}

func TestAnEmptyHistogramSaysNothing(t *testing.T) {
	var h pace.Histogram
	if h.Quantile(0.5) != 0 || h.Mean() != 0 || h.Max() != 0 || h.Count() != 0 {
		t.Error(h)
	}
	h.Add(-time.Second)
	h.Add(10)
	if h.Quantile(0.5) != 0 || h.Mean() != 5 || h.Max() != 10 || h.Count() != 2 {
		t.Error(h)
	}
	h.Add(math.MaxInt64 - 10)
	seen := 0
	h.Each(func(time.Duration, time.Duration, int64) bool {
		seen++
		return seen < 2
	})
	if seen != 2 || h.Quantile(1) != math.MaxInt64-10 {
		t.Error(seen, h)
	}
}

func FuzzHistogram(f *testing.F) {
	for _, seed := range []string{`{"count":2,"sum_ns":30,"max_ns":20,"bins":[[10,1],[20,1]]}`,
		`{"count":1,"bins":[[-1,1]]}`, `{"count":-1,"bins":[[0,-1]]}`,
		`{"count":9,"bins":[[1,9223372036854775807],[1,9]]}`, `[]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var h pace.Histogram
		if json.Unmarshal(b, &h) != nil {
			if h != (pace.Histogram{}) {
				t.Fatalf("%s: %v", b, h)
			}
			return
		}
		h.Quantile(0.5)
		again, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		var read pace.Histogram
		if err := json.Unmarshal(again, &read); err != nil || read != h {
			t.Fatalf("%s: %v, %v", again, read, err)
		}
	})
}
