package flow_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/flow"
)

func TestReadsAheadNoFurtherThanItMay(t *testing.T) {
	for _, o := range []flow.Options{{Concurrency: 3, Prefetch: 2}, {Concurrency: 3, Prefetch: 2, Ordered: true},
		{Concurrency: 1, Prefetch: 5}, {Concurrency: 4, Prefetch: 1}} {
		var read, taken atomic.Int64
		source := flow.Source(func(_ context.Context, emit func(int) bool) error {
			for i := range 200 {
				read.Add(1)
				if !emit(i) {
					break
				}
			}
			return nil
		})
		for name, s := range stages(source, itself, o) {
			most := int64(o.Concurrency*o.Prefetch) + 2 // one in the source's hand, one in the reader's
			switch name {
			case "FlatMap": // what its streams yield is bounded apart from what they are made of
				most += int64(o.Concurrency)
			case "FlatMapByKey":
				most += int64(o.Concurrency * o.Prefetch)
			}
			read.Store(0)
			taken.Store(0)
			for range s(t.Context()) {
				letRun(func() bool { return read.Load()-taken.Load() >= most })
				if n := read.Load() - taken.Load(); n > most {
					t.Fatalf("%s %+v: %d items are under way, more than %d", name, o, n, most)
				}
				taken.Add(1)
			}
		}
	}
}

// letRun lets others run for a while, or until it is so: a bound that holds only because nobody ran shows nothing.
func letRun(so func() bool) {
	for range 50 {
		if so() {
			return
		}
		yield := make(chan struct{})
		go close(yield)
		<-yield
	}
}

func TestStreamsRunAheadNoFurtherThanTheyMay(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var made [4]int
			endless := func(i int) flow.Stream[int] {
				return flow.Source(func(_ context.Context, emit func(int) bool) error {
					for emit(i) {
						made[i]++
					}
					return nil
				})
			}
			s := flow.FlatMap(flow.Of(0, 1, 2, 3), endless, flow.Options{Concurrency: 3, Prefetch: 5, Ordered: ordered})
			for range s(t.Context()) {
				synctest.Wait()
				if want := []int{5, 5, 5, 0}; ordered && !slices.Equal(made[1:], []int{5, 5, 0}) || made[3] != 0 ||
					made[1] > 6 {
					t.Errorf("ordered %v: streams made %v, want %v", ordered, made, want)
				}
				break
			}
		})
	}
}

func TestLoneItemIsNeverHeldBack(t *testing.T) {
	for way, o := range variants() {
		for name, s := range stages(numbers(3, time.Hour), itself, o) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				for i := range s(t.Context()) {
					if at := time.Since(began); at != time.Duration(i+1)*time.Hour {
						t.Errorf("%s %s: item %d came after %v", name, way, i, at)
					}
				}
			})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		for b := range flow.Batch(flow.Buffer(numbers(3, time.Hour), 100), 100)(t.Context()) {
			if at := time.Since(began); len(b) != 1 || at != time.Duration(b[0]+1)*time.Hour {
				t.Errorf("batch %v came after %v", b, at)
			}
		}
	})
}

// One slow item occupies one worker; the others are taken by whoever is free.
func TestWorkIsTakenByWhoeverIsFree(t *testing.T) {
	for _, o := range []flow.Options{{Concurrency: 4}, {Concurrency: 4, Ordered: true}, {Scheduler: flow.Parallel(4)},
		{Concurrency: 64, Scheduler: flow.Parallel(4)}} {
		synctest.Test(t, func(t *testing.T) {
			s := flow.Map(numbers(31, 0), func(ctx context.Context, i int) (int, error) {
				if i == 0 {
					return i, wait(ctx, 10*time.Second)
				}
				return i, wait(ctx, time.Second)
			}, o)
			if took := elapsed(func() { collect(t, s) }); took != 10*time.Second {
				t.Errorf("%+v: it took %v, want 10s: three workers for thirty items", o, took)
			}
		})
	}
}

func TestElasticGrowsToItsLimitAndShrinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := flow.Elastic(5)
		s := flow.Map(numbers(20, 0), func(ctx context.Context, i int) (int, error) {
			return i,
				wait(ctx, time.Second)
		}, flow.Options{Scheduler: e, Concurrency: 50})
		if took := elapsed(func() { collect(t, s) }); took != 4*time.Second {
			t.Errorf("20 seconds of work by five took %v", took)
		}
		if got, want := e.Stats(), (flow.SchedulerStats{Max: 5, Peak: 5}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		if e.String() != "elastic(5)" {
			t.Errorf("it is called %v", e)
		}
	})
}

func TestSchedulersHaveTheWorkersTheyPromise(t *testing.T) {
	if n := flow.Single().Stats().Max; n != 1 {
		t.Errorf("Single has %d", n)
	}
	if n := flow.Parallel(0).Stats().Max; n < 4 {
		t.Errorf("Parallel has %d by default", n)
	}
	if n := flow.Elastic(0).Stats().Max; n < 100 {
		t.Errorf("Elastic has %d by default", n)
	}
}

// A function that runs a stage on the scheduler that it runs on itself gives its worker back while it waits.
func TestNestingAtTheLimitCannotDeadlock(t *testing.T) {
	for _, s := range []*flow.Scheduler{flow.Single(), flow.Parallel(2), flow.Elastic(3)} {
		synctest.Test(t, func(t *testing.T) {
			var nest func(depth int) func(context.Context, int) (int, error)
			nest = func(depth int) func(context.Context, int) (int, error) {
				return func(ctx context.Context, i int) (int, error) {
					time.Sleep(time.Millisecond)
					if depth == 0 {
						return 1, nil
					}
					sum := 0
					inner := flow.Map(flow.On(s, numbers(3, time.Millisecond)), nest(depth-1),
						flow.Options{Concurrency: 8, Scheduler: s})
					err := flow.ForEach(ctx, flow.On(s, inner), func(n int) error { sum += n; return nil })
					return sum, err
				}
			}
			sum, err := nest(4)(t.Context(), 0)
			if err != nil || sum != 81 {
				t.Errorf("%v: %d, %v", s, sum, err)
			}
			if st := s.Stats(); st.Busy != 0 || st.Waiting != 0 || st.Peak != st.Max {
				t.Errorf("%v: %+v", s, st)
			}
		})
	}
}

func TestStreamWithLittleToDoIsNotHeldUpByOneWithMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := flow.Parallel(2)
		work := func(ctx context.Context, i int) (int, error) { return i, wait(ctx, time.Second) }
		var wg sync.WaitGroup
		wg.Go(func() { collect(t, flow.Map(numbers(100, 0), work, flow.Options{Concurrency: 100, Scheduler: s})) })
		synctest.Wait()
		if got := s.Stats(); got.Busy != 2 || got.Waiting != 98 {
			t.Errorf("%+v", got)
		}
		// Each of the three waits for one worker to be free at most, of which there are two a second, and every second
		// one is its.
		took := elapsed(func() { collect(t, flow.Map(numbers(3, 0), work, flow.Options{Scheduler: s})) })
		if took > 4*time.Second {
			t.Errorf("three items beside a hundred took %v", took)
		}
		wg.Wait()
	})
}

// Of two schedulers around each other the inner one counts, and the outer one's worker is free meanwhile.
func TestInnermostSchedulerCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, outer := flow.Elastic(1), flow.Single()
		s := flow.On(outer, flow.On(inner, flow.On(inner, numbers(2, 0))))
		for range s(t.Context()) {
			if i, o := inner.Stats(), outer.Stats(); i.Busy != 1 || o.Busy != 0 {
				t.Errorf("inner %+v, outer %+v", i, o)
			}
		}
		if i, o := inner.Stats(), outer.Stats(); i.Busy != 0 || o.Busy != 0 || i.Peak != 1 || o.Peak != 1 {
			t.Errorf("in the end: inner %+v, outer %+v", i, o)
		}
	})
}

// Users may pass their context to goroutines of their own; whatever these do at once, no worker is lost.
func TestGoroutinesThatShareAContextLoseNoWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := flow.Parallel(2), flow.Parallel(3)
		s := flow.Map(numbers(40, 0), func(ctx context.Context, i int) (int, error) {
			var wg sync.WaitGroup
			for k := range 4 {
				wg.Go(func() {
					on := []*flow.Scheduler{one, two}[(i+k)%2]
					if err := flow.ForEach(ctx, flow.On(on, numbers(3, time.Duration(k+1)*time.Millisecond)),
						func(int) error {
							return flow.Await(ctx, func() { time.Sleep(time.Duration(i%3) * time.Millisecond) })
						}); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			return i, nil
		}, flow.Options{Concurrency: 10, Scheduler: one})
		if n := len(collect(t, s)); n != 40 {
			t.Errorf("%d items", n)
		}
		for _, s := range []*flow.Scheduler{one, two} {
			if st := s.Stats(); st.Busy != 0 || st.Waiting != 0 {
				t.Errorf("%v: %+v", s, st)
			}
		}
	})
}

// Who gives up waiting for a worker leaves the line, and one that was handed to it meanwhile goes on to the next.
func TestWhoGivesUpWaitingLeavesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := flow.Single()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _ = flow.Collect(t.Context(),
				flow.On(s, flow.Source(func(context.Context,
					func(int) bool) error {
					time.Sleep(time.Minute)
					return nil
				})))
		})
		synctest.Wait()
		for i := range 10 {
			wg.Go(func() {
				within := ctx
				if i%2 == 0 {
					within = t.Context()
				}
				if got, err := flow.Collect(within, flow.On(s, flow.Of(1))); (err != nil) != (i%2 == 1) {
					t.Errorf("%v, %v", got, err)
				}
			})
		}
		synctest.Wait()
		if st := s.Stats(); st.Waiting != 10 {
			t.Errorf("%+v", st)
		}
		cancel()
		synctest.Wait()
		if st := s.Stats(); st.Waiting != 5 {
			t.Errorf("after half of them have given up: %+v", st)
		}
		wg.Wait()
		if st := s.Stats(); st.Busy != 0 || st.Waiting != 0 {
			t.Errorf("%+v", st)
		}
	})
}

func TestAwaitGivesTheWorkerBackMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := flow.Single()
		work := func(ctx context.Context, i int) (int, error) {
			return i, flow.Await(ctx, func() { time.Sleep(time.Second) })
		}
		if took := elapsed(func() {
			collect(t,
				flow.Map(numbers(10, 0), work, flow.Options{Concurrency: 10, Scheduler: s}))
		}); took != time.Second {
			t.Errorf("ten that only wait took %v", took)
		}
		if err := flow.Await(t.Context(), func() {}); err != nil {
			t.Errorf("without any stage: %v", err)
		}
	})
}

func TestKeyHasNoMoreStreamsThanItMay(t *testing.T) {
	for _, perKey := range []int{0, 1, 2} {
		synctest.Test(t, func(t *testing.T) {
			busy, most := map[string]int{}, 0
			var mu sync.Mutex
			count := func(key string, n int) {
				mu.Lock()
				defer mu.Unlock()
				busy[key] += n
				most = max(most, busy[key])
			}
			items := []string{"a", "a", "a", "a", "b", "c"}
			s := flow.FlatMapByKey(flow.Of(items...), func(key string) string { return key }, perKey,
				func(key string) flow.Stream[string] {
					return flow.Source(func(_ context.Context, emit func(string) bool) error {
						count(key, 1)
						defer count(key, -1)
						time.Sleep(time.Second)
						emit(fmt.Sprint(key))
						return nil
					})
				}, flow.Options{Concurrency: 3})
			var got []string
			took := elapsed(func() { got = collect(t, s) })
			perKey := max(1, perKey)
			if want := time.Duration(4/perKey) * time.Second; len(got) != 6 || most != perKey || took != want {
				t.Errorf("%v: at most %d at once, and it took %v; want %d and %v", got, most, took, perKey, want)
			}
			if perKey == 1 && !slices.Contains(got[:3], "b") {
				t.Errorf("b waited for a: %v", got)
			}
		})
	}
}

func TestItemsOfAKeyKeepTheirOrderWithOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := flow.FlatMapByKey(numbers(60, 0), func(i int) int { return i % 4 }, 1, func(i int) flow.Stream[int] {
			return numberAfter(i, time.Duration(i*7%5)*time.Millisecond)
		}, flow.Options{Concurrency: 4})
		last := map[int]int{}
		for _, i := range collect(t, s) {
			if before, known := last[i%4]; known && before > i {
				t.Errorf("%d came after %d", i, before)
			}
			last[i%4] = i
		}
	})
}

func numberAfter(i int, d time.Duration) flow.Stream[int] {
	return flow.Source(func(ctx context.Context, emit func(int) bool) error {
		time.Sleep(d)
		emit(i)
		return nil
	})
}
