package flow_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hikyaku/hikyaku/flow"
)

// Many streams of all kinds share one scheduler and one loader on real processors: for the race detector. Each counts
// what it got.
func TestManyStreamsShareASchedulerAndALoader(t *testing.T) {
	shared := flow.Elastic(3)
	loader := flow.NewLoader(flow.LoaderConfig[int, int]{
		Fetch: func(_ context.Context, keys []int) (map[int]int, error) {
			runtime.Gosched()
			values := make(map[int]int, len(keys))
			for _, k := range keys {
				values[k] = 2 * k
			}
			return values, nil
		},
		MaxKeys: 50, Concurrency: 2, CacheSize: 20,
	})
	const n = 300
	want := n * (n - 1) // the sum of 2 × 0…n-1
	o := flow.Options{Concurrency: 5, Scheduler: shared}
	inOrder := o
	inOrder.Ordered = true
	again := func(i int) flow.Stream[int] { return flow.On(shared, flow.Of(i, i)) }
	twice := func(_ context.Context, i int) (int, error) { return 2 * i, nil }
	second := func(_ context.Context, p flow.Pair[int, int]) (int, error) { return p.Second, nil }
	kinds := map[string]flow.Stream[int]{
		"Map":          flow.Map(numbers(n, 0), twice, o),
		"ordered":      flow.Map(flow.On(shared, numbers(n, 0)), twice, inOrder),
		"FlatMap":      flow.FlatMap(numbers(n, 0), again, o),
		"FlatMapByKey": flow.FlatMapByKey(numbers(n, 0), func(i int) int { return i % 7 }, 1, again, o),
		"Merge":        flow.Merge(numbers(n, 0), flow.Buffer(numbers(n, 0), 3)),
		"Load":         flow.Map(numbers(n, 0), loader.Load, o),
		"Lookup":       flow.Map(flow.Lookup(numbers(n, 0), self, loader, 40, inOrder), second, flow.Options{}),
		"Zip":          flow.Map(flow.Zip(numbers(n, 0), flow.Map(numbers(n, 0), twice, inOrder)), second, o),
		"Batch": flow.FlatMap(flow.Batch(numbers(n, 0), 9),
			func(b []int) flow.Stream[int] { return flow.Map(flow.Of(b...), twice, o) }, inOrder),
		"Tee": flow.Tee(flow.Map(numbers(n, 0), twice, o), func(ctx context.Context, s flow.Stream[int]) error {
			return sumsTo(ctx, s, want)
		}),
	}
	var wg sync.WaitGroup
	for name, s := range kinds {
		for range 4 {
			wg.Go(func() {
				if err := sumsTo(t.Context(), s, want); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
			wg.Go(func() { // one that leaves early
				seen := 0
				for range s(t.Context()) {
					if seen++; seen == 20 {
						break
					}
				}
			})
			wg.Go(func() { // and one that is cancelled
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				seen := 0
				for _, err := range s(ctx) {
					if seen++; seen == 20 {
						cancel(errBroken)
					}
					if err != nil && !errors.Is(err, errBroken) {
						t.Errorf("%s, cancelled: %v", name, err)
					}
				}
			})
		}
	}
	wg.Wait()
	if err := loader.Close(); err != nil {
		t.Error(err)
	}
	if st := shared.Stats(); st.Busy != 0 || st.Waiting != 0 || st.Peak > 3 {
		t.Errorf("%+v", st)
	}
}

func sumsTo(ctx context.Context, s flow.Stream[int], want int) error {
	sum := 0
	if err := flow.ForEach(ctx, s, func(i int) error { sum += i; return nil }); err != nil {
		return err
	}
	if sum != want {
		return fmt.Errorf("the sum is %d, want %d", sum, want)
	}
	return nil
}

// A scheduler never has more work going on than workers, whatever runs on it.
func TestNoMoreWorkersThanThereMayBe(t *testing.T) {
	s := flow.Parallel(2)
	var now, most atomic.Int64
	busy := func(ctx context.Context, i int) (int, error) {
		n := now.Add(1)
		for known := most.Load(); n > known && !most.CompareAndSwap(known, n); {
			known = most.Load()
		}
		runtime.Gosched()
		now.Add(-1)
		return i, flow.Await(ctx, runtime.Gosched)
	}
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			if _, err := flow.Collect(t.Context(),
				flow.Map(numbers(200, 0), busy, flow.Options{Concurrency: 6, Scheduler: s})); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most.Load() > 2 {
		t.Errorf("%d at once", most.Load())
	}
}
