package flow_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/flow"
)

func self(i int) int { return i }

func TestLookupAsksForWhatHasGathered(t *testing.T) {
	s := &table{takes: 2600 * time.Millisecond}
	withLoader(t, flow.LoaderConfig[int, string]{Fetch: s.fetch}, func(t *testing.T, l *flow.Loader[int, string]) {
		began := time.Now()
		for i, v := range collect(t, flow.Lookup(numbers(10, time.Second), self, l, 5, flow.Options{})) {
			if v.First != i || v.Second != fmt.Sprint(i) {
				t.Errorf("item %d is %v", i, v)
			}
		}
		// [[0] [1 2] [3 4 5] [6 7] [8 9]]; but the loader may begin with the first key of a group before it has seen
		// the second.
		var asked []int
		for _, keys := range s.fetches {
			asked = append(asked, keys...)
		}
		if !slices.Equal(asked, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) || len(s.fetches) > 8 {
			t.Errorf("fetches are %v", s.fetches)
		}
		if took := time.Since(began); took > 22*time.Second { // one by one they take 27 s
			t.Errorf("it took %v", took)
		}
	})
}

func TestLookupOfALoneItemIsNotHeldBack(t *testing.T) {
	s := &table{}
	withLoader(t, flow.LoaderConfig[int, string]{Fetch: s.fetch}, func(t *testing.T, l *flow.Loader[int, string]) {
		began := time.Now()
		for v := range flow.Lookup(numbers(3, time.Hour), self, l, 100, flow.Options{})(t.Context()) {
			if at := time.Since(began); at != time.Duration(v.First+1)*time.Hour {
				t.Errorf("%v came after %v", v, at)
			}
		}
	})
}

// Whatever the timing, Lookup in order is Map with Load in sequence: items, errors, and where it ends.
func TestLookupIsMapOfLoadWhateverTheTiming(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := drawTiming(r)
		n := rapid.IntRange(1, 8).Draw(r, "at most")
		panics := rapid.Bool().Draw(r, "a key panics")
		key := func(i int) int {
			if panics && i == 7 {
				panic("no key")
			}
			return i
		}
		w.options.Ordered = true
		w.options.Prefetch = 0
		fetch := func(ctx context.Context, keys []int) (map[int]int, error) {
			values, failed := map[int]int{}, flow.KeyErrors[int]{}
			for _, k := range keys {
				if v, err := w.work(ctx, k); err != nil {
					failed[k] = err
				} else if k%11 != 10 {
					values[k] = v
				}
			}
			return values, failed
		}
		run := func(t *testing.T, stage func(l *flow.Loader[int, int]) flow.Stream[int]) (seen []string) {
			synctest.Test(t, func(t *testing.T) {
				l := flow.NewLoader(flow.LoaderConfig[int, int]{Fetch: fetch, MaxKeys: 4, Concurrency: 2})
				seen = w.transcript(t.Context(), stage(l))
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			})
			return seen
		}
		second := func(_ context.Context, p flow.Pair[int, int]) (int, error) { return p.Second, nil }
		together := run(t, func(l *flow.Loader[int, int]) flow.Stream[int] {
			return flow.Map(flow.Lookup(w.source(), key, l, n, w.options), second,
				flow.Options{KeepGoing: w.options.KeepGoing})
		})
		alone := run(t, func(l *flow.Loader[int, int]) flow.Stream[int] {
			return flow.Map(w.source(), func(ctx context.Context, i int) (int, error) { return l.Load(ctx, key(i)) },
				flow.Options{KeepGoing: w.options.KeepGoing})
		})
		if !slices.Equal(together, alone) {
			r.Fatalf("Lookup\n%q\nMap of Load\n%q", together, alone)
		}
	})
}

func TestLookupTriesOnlyFailedKeysAgain(t *testing.T) {
	var mu sync.Mutex
	tries := map[int]int{}
	s := &table{fails: func(k int) error {
		mu.Lock()
		defer mu.Unlock()
		if tries[k]++; tries[k] <= 2*(k%3) { // table asks twice
			return errBroken
		}
		return nil
	}}
	withLoader(t, flow.LoaderConfig[int, string]{Fetch: s.fetch}, func(t *testing.T, l *flow.Loader[int, string]) {
		o := flow.Options{Retry: flow.Retry{Attempts: 3, Wait: time.Second}}
		got := collect(t, flow.Lookup(flow.Of(0, 1, 2, 3), self, l, 10, o))
		if len(got) != 4 || got[2].Second != "2" {
			t.Errorf("%v", got)
		}
		fetched := slices.Concat(s.fetches...)
		slices.Sort(fetched)
		wantItems(t, fetched, 0, 1, 1, 2, 2, 2, 3)
	})
}

func TestLookupThatTakesTooLongFailsItsGroup(t *testing.T) {
	s := &table{takes: time.Hour}
	synctest.Test(t, func(t *testing.T) {
		l := flow.NewLoader(flow.LoaderConfig[int, string]{Fetch: s.fetch, Timeout: time.Minute})
		_, errs := read(flow.Lookup(flow.Of(1, 2), self, l, 10,
			flow.Options{Timeout: time.Second, KeepGoing: true})(t.Context()))
		var late *flow.TimeoutError
		if len(errs) != 2 || !errors.As(errs[1], &late) || late.After != "1s" {
			t.Errorf("errors %v", errs)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestLookupEndsWithItsContextAndItsReader(t *testing.T) {
	for _, o := range []flow.Options{{}, {Concurrency: 3}, {Concurrency: 3, Ordered: true, Scheduler: flow.Single()}} {
		s := &table{takes: time.Second}
		withLoader(t, flow.LoaderConfig[int, string]{Fetch: s.fetch}, func(t *testing.T, l *flow.Loader[int, string]) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 1500*time.Millisecond, errBroken)
			defer cancel()
			_, errs := read(flow.Lookup(flow.Interval(100*time.Millisecond), self, l, 10, o)(ctx))
			if len(errs) == 0 || !errors.Is(errs[0], errBroken) {
				t.Errorf("%+v: errors %v", o, errs)
			}
			for range flow.Lookup(flow.Interval(100*time.Millisecond), self, l, 10, o)(t.Context()) {
				break
			}
		})
	}
}

// A database that is away for ten seconds in the middle: whoever tries again loses nothing, and nobody comes twice.
func TestSourceThatGoesAwayForAWhileLosesNothing(t *testing.T) {
	o := flow.Options{Concurrency: 4, Retry: flow.Retry{Attempts: 30, Wait: time.Second, MaxWait: 2 * time.Second},
		Timeout: 3 * time.Second}
	for name, stage := range map[string]func(l *flow.Loader[int, string]) flow.Stream[string]{
		"Map": func(l *flow.Loader[int, string]) flow.Stream[string] {
			return flow.Map(numbers(200, 100*time.Millisecond), l.Load, o)
		},
		"Lookup": func(l *flow.Loader[int, string]) flow.Stream[string] {
			return flow.Map(flow.Lookup(numbers(200, 100*time.Millisecond), self, l, 20, o),
				func(_ context.Context, p flow.Pair[int, string]) (string, error) { return p.Second, nil },
				flow.Options{})
		},
	} {
		s := &table{takes: 50 * time.Millisecond}
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			l := flow.NewLoader(flow.LoaderConfig[int,
				string]{Fetch: func(ctx context.Context, keys []int) (map[int]string, error) {
				switch at := time.Since(began); {
				case at > 5*time.Second && at < 10*time.Second:
					return nil, errBroken // refused
				case at > 10*time.Second && at < 15*time.Second:
					return nil, wait(ctx, time.Hour) // never answered
				}
				return s.fetch(ctx, keys)
			}, Timeout: time.Second})
			got := collect(t, stage(l))
			slices.Sort(got)
			if n := len(slices.Compact(slices.Clone(got))); len(got) != 200 || n != 200 {
				t.Errorf("%s: %d items, %d different ones", name, len(got), n)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
