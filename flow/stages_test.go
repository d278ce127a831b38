package flow_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/flow"
)

func TestBatchesGatherWhileTheReaderIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got [][]int
		for b, err := range flow.Batch(numbers(10, time.Second), 4)(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, b)
			time.Sleep(2600 * time.Millisecond)
		}
		want := [][]int{{0}, {1, 2}, {3, 4, 5}, {6, 7}, {8, 9}}
		if !slices.EqualFunc(got, want, slices.Equal[[]int]) {
			t.Errorf("batches are %v, want %v", got, want)
		}
	})
}

func TestBatchesAreNoLargerThanTheyMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		for b := range flow.Batch(numbers(10, 0), 4)(t.Context()) {
			synctest.Wait()
			sizes = append(sizes, len(b))
		}
		sum := 0
		for _, n := range sizes {
			sum += n
		}
		if sum != 10 || slices.Max(sizes) > 4 || len(sizes) > 4 {
			t.Errorf("sizes %v", sizes)
		}
	})
}

func TestBatchEndsBeforeAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got [][]int
		var last error
		for b, err := range flow.Batch(failing(3), 10)(t.Context()) {
			synctest.Wait()
			if last = err; err == nil {
				got = append(got, b)
			}
		}
		if len(slices.Concat(got...)) != 3 || !errors.Is(last, errBroken) {
			t.Errorf("%v, then %v", got, last)
		}
	})
}

func TestZipPairsAndEndsWithTheShorterAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		a, b  flow.Stream[int]
		pairs int
		takes time.Duration
	}{
		"the second is shorter": {flow.Interval(time.Second), numbers(30, 0), 30, 30 * time.Second},
		"the first is shorter":  {numbers(3, time.Second), flow.Interval(time.Millisecond), 3, 3 * time.Second},
		"both are slow":         {numbers(3, time.Second), numbers(3, time.Second), 3, 3 * time.Second},
		"the second is slower":  {numbers(9, time.Second), numbers(3, 2*time.Second), 3, 6 * time.Second},
		"one is empty":          {flow.Interval(time.Second), numbers(0, 0), 0, 0},
		"the end comes late": {flow.Interval(time.Minute),
			flow.Source(func(ctx context.Context, emit func(int) bool) error {
				emit(1)
				return wait(ctx, 90*time.Second)
			}), 1, 90 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			var pairs []flow.Pair[int, int]
			took := elapsed(func() { pairs = collect(t, flow.Zip(c.a, c.b)) })
			if len(pairs) != c.pairs || took != c.takes {
				t.Errorf("%s: %v after %v, want %d after %v", name, pairs, took, c.pairs, c.takes)
			}
		})
	}
}

func TestZipEndsWithTheErrorOfEither(t *testing.T) {
	for name, s := range map[string]flow.Stream[flow.Pair[int, int]]{
		"first":  flow.Zip(failing(2), flow.Interval(time.Nanosecond)),
		"second": flow.Zip(flow.Interval(time.Nanosecond), failing(2)),
	} {
		pairs, errs := read(s(t.Context()))
		if len(pairs) != 2 || len(errs) != 1 || !errors.Is(errs[0], errBroken) {
			t.Errorf("%s: %v, errors %v", name, pairs, errs)
		}
	}
}

func TestIntervalDoesNotDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		for i := range flow.Take(flow.Interval(time.Second), 50)(t.Context()) {
			if at := time.Since(began); at != time.Duration(i+1)*time.Second {
				t.Fatalf("tick %d came after %v", i, at)
			}
			time.Sleep(time.Duration(i) * 10 * time.Millisecond)
		}
	})
}

func TestIntervalMissesTicksThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var at []time.Duration
		for range flow.Take(flow.Interval(time.Second), 4)(t.Context()) {
			at = append(at, time.Since(began))
			if len(at) == 2 {
				time.Sleep(3500 * time.Millisecond)
			}
		}
		wantItems(t, at, time.Second, 2*time.Second, 5500*time.Millisecond, 6*time.Second)
	})
}

func TestThrottleKeepsItsDistance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var at []time.Duration
		come := flow.Source(func(ctx context.Context, emit func(int) bool) error {
			for i, d := range []time.Duration{0, 0, 0, 5 * time.Second, 0} {
				if err := wait(ctx, d); err != nil || !emit(i) {
					return err
				}
			}
			return nil
		})
		for range flow.Throttle(come, time.Second)(t.Context()) {
			at = append(at, time.Since(began))
		}
		wantItems(t, at, 0, time.Second, 2*time.Second, 7*time.Second, 8*time.Second)
	})
}

func TestMergeRunsAllAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []int
		took := elapsed(func() {
			got = collect(t,
				flow.Merge(numbers(3, time.Second), numbers(2, 1400*time.Millisecond)))
		})
		wantItems(t, got, 0, 0, 1, 1, 2)
		if took != 3*time.Second {
			t.Errorf("it took %v", took)
		}
	})
	wantItems(t, collect(t, flow.Merge[int]()))
	wantItems(t, collect(t, flow.Merge(flow.Of(1, 2))), 1, 2)
}

func TestTakeReadsNoMoreThanItNeeds(t *testing.T) {
	made := 0
	s := flow.Source(func(_ context.Context, emit func(int) bool) error {
		for made++; emit(made); made++ {
		}
		return nil
	})
	wantItems(t, collect(t, flow.Take(s, 3)), 1, 2, 3)
	if made != 3 {
		t.Errorf("%d were made", made)
	}
	wantItems(t, collect(t, flow.Take(s, 0)))
	if _, err := flow.Collect(t.Context(), flow.Take(failing(2), 3)); !errors.Is(err, errBroken) {
		t.Errorf("a stream that fails before its end: %v", err)
	}
}

func TestBufferRunsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int64
		s := flow.Source(func(_ context.Context, emit func(int) bool) error {
			for i := range 20 {
				made.Add(1)
				if !emit(i) {
					return nil
				}
			}
			return nil
		})
		for i := range flow.Buffer(s, 5)(t.Context()) {
			synctest.Wait()
			if n, want := made.Load(), min(int64(i)+7, 20); n != want {
				t.Errorf("%d are made when %d is read, want %d", n, i, want)
			}
		}
	})
}

func TestTeeGivesEachSideEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slow, first []int
		s := flow.Tee(numbers(100, time.Millisecond),
			func(ctx context.Context, s flow.Stream[int]) error {
				return flow.ForEach(ctx, s,
					func(i int) error { slow = append(slow, i); return wait(ctx, 10*time.Millisecond) })
			},
			func(ctx context.Context, s flow.Stream[int]) (err error) {
				first, err = flow.Collect(ctx, flow.Take(s, 3))
				return err
			})
		if n := len(collect(t, s)); n != 100 || len(slow) != 100 || slow[99] != 99 ||
			!slices.Equal(first, []int{0, 1, 2}) {
			t.Errorf("%d items, the slow side %d, the other %v", n, len(slow), first)
		}
	})
}

func TestTeeIsHeldUpByItsSlowestSide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := make(chan struct{})
		s := flow.Tee(numbers(100, 0), func(ctx context.Context, s flow.Stream[int]) error {
			<-begin
			return flow.ForEach(ctx, s, func(int) error { return nil })
		})
		var n atomic.Int64
		time.AfterFunc(time.Second, func() {
			if n := n.Load(); n == 0 || n > 20 {
				t.Errorf("the reader was %d ahead of a side that had read nothing", n)
			}
			close(begin)
		})
		for range s(t.Context()) {
			n.Add(1)
		}
		if n.Load() != 100 {
			t.Errorf("%d items", n.Load())
		}
	})
}

func TestSideThatFailsEndsTheStream(t *testing.T) {
	fails := func(at int) func(context.Context, flow.Stream[int]) error {
		return func(ctx context.Context, s flow.Stream[int]) error {
			return flow.ForEach(ctx, s, func(i int) error {
				if i == at {
					return errBroken
				}
				return nil
			})
		}
	}
	reads := func(ctx context.Context, s flow.Stream[int]) error { _, err := flow.Collect(ctx, s); return err }
	for _, at := range []int{0, 1, 40, 99} {
		_, errs := read(flow.Tee(numbers(100, 0), reads, fails(at), reads)(t.Context()))
		if len(errs) != 1 || !errors.Is(errs[0], errBroken) || !strings.Contains(errs[0].Error(), "side") {
			t.Errorf("failing at %d: errors %v", at, errs)
		}
	}
	_, errs := read(flow.Tee(failing(2), reads)(t.Context()))
	if len(errs) != 1 || !errors.Is(errs[0], errBroken) {
		t.Errorf("a source that fails: errors %v", errs)
	}
}

func TestCollectMapKeepsTheLastOfAKey(t *testing.T) {
	got, err := flow.CollectMap(t.Context(), numbers(10, 0), func(i int) (int, int) { return i % 3, i })
	if err != nil || len(got) != 3 || got[0] != 9 || got[1] != 7 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestForEachEndsWithTheFirstError(t *testing.T) {
	n := 0
	err := flow.ForEach(t.Context(), numbers(10, 0), func(i int) error {
		n++
		if i == 4 {
			return errBroken
		}
		return nil
	})
	if !errors.Is(err, errBroken) || n != 5 {
		t.Errorf("%v after %d", err, n)
	}
}

func TestStreamCanBeRunAgain(t *testing.T) {
	s := flow.Map(flow.FlatMap(flow.Of(1, 2, 3), func(i int) flow.Stream[int] { return flow.Of(i, i) }, flow.Options{}),
		itself, flow.Options{Concurrency: 2, Ordered: true})
	for range 3 {
		wantItems(t, collect(t, s), 1, 1, 2, 2, 3, 3)
	}
}

func TestSleepEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errBroken)
		defer cancel()
		var err error
		if took := elapsed(func() { err = flow.Sleep(ctx, time.Hour) }); took != time.Second ||
			!errors.Is(err, errBroken) {
			t.Errorf("%v after %v", err, took)
		}
		if err := flow.Sleep(ctx, 0); !errors.Is(err, errBroken) {
			t.Errorf("no time with an ended context: %v", err)
		}
	})
}
