package flow_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/flow"
)

// table is what loaders of these tests fetch from: the value of a key is its text.
type table struct {
	takes   time.Duration
	mu      sync.Mutex
	fetches [][]int
	fails   func(key int) error
}

func (s *table) fetch(ctx context.Context, keys []int) (map[int]string, error) {
	s.mu.Lock()
	s.fetches = append(s.fetches, slices.Clone(keys))
	s.mu.Unlock()
	if err := wait(ctx, s.takes); err != nil {
		return nil, err
	}
	values, failed := map[int]string{}, flow.KeyErrors[int]{}
	for _, k := range keys {
		switch {
		case k < 0: // missing
		case s.fails != nil && s.fails(k) != nil:
			failed[k] = s.fails(k)
		default:
			values[k] = fmt.Sprint(k)
		}
	}
	if len(failed) > 0 {
		return values, fmt.Errorf("table: %w", failed)
	}
	return values, nil
}

func (s *table) wantFetches(t *testing.T, want ...[]int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	got := slices.Clone(s.fetches)
	for i := range got {
		slices.Sort(got[i])
	}
	if !slices.EqualFunc(got, want, slices.Equal[[]int]) {
		t.Errorf("fetches are %v, want %v", got, want)
	}
}

// withLoader runs a test in a bubble, with a loader that is closed at its end.
func withLoader(t *testing.T, c flow.LoaderConfig[int, string], do func(t *testing.T, l *flow.Loader[int, string])) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := flow.NewLoader(c)
		defer func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}()
		do(t, l)
	})
}

func wantLoaded(t *testing.T, l *flow.Loader[int, string], key int) {
	t.Helper()
	if v, err := l.Load(t.Context(), key); err != nil || v != fmt.Sprint(key) {
		t.Errorf("key %d: %q, %v", key, v, err)
	}
}

func TestKeysAskedForWhileAFetchRunsTravelInTheNext(t *testing.T) {
	s := &table{takes: time.Second}
	withLoader(t, flow.LoaderConfig[int, string]{Fetch: s.fetch}, func(t *testing.T, l *flow.Loader[int, string]) {
		var wg sync.WaitGroup
		began := time.Now()
		wg.Go(func() { wantLoaded(t, l, 0) })
		synctest.Wait()
		for i := range 30 {
			wg.Go(func() { wantLoaded(t, l, i%10) }) // three ask for each, and 0 is on its way
		}
		wg.Wait()
		s.wantFetches(t, []int{0}, []int{1, 2, 3, 4, 5, 6, 7, 8, 9})
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("it took %v", took)
		}
		if got, want := l.Stats(), (flow.LoaderStats{Asked: 31, Shared: 21, Fetches: 2, Keys: 10}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

func TestFetchesAreNoLargerAndNoMoreThanTheyMay(t *testing.T) {
	s := &table{takes: time.Second}
	withLoader(t, flow.LoaderConfig[int, string]{Fetch: s.fetch, MaxKeys: 3, Concurrency: 2},
		func(t *testing.T, l *flow.Loader[int, string]) {
			keys := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 3, 4}
			var got map[int]string
			took := elapsed(func() {
				var err error
				if got, err = l.LoadAll(t.Context(), keys...); err != nil {
					t.Error(err)
				}
			})
			if len(got) != 12 || got[11] != "11" {
				t.Errorf("%v", got)
			}
			for _, f := range s.fetches {
				if len(f) > 3 {
					t.Errorf("a fetch of %v", f)
				}
			}
			if took < 2*time.Second || took > 3*time.Second {
				t.Errorf("twelve keys, three each, two at once: %v in %v", s.fetches, took)
			}
		})
}

func TestErrorsAndMissingKeysAreTheKeysOwn(t *testing.T) {
	s := &table{fails: func(k int) error {
		if k == 3 {
			return errBroken
		}
		return nil
	}}
	withLoader(t, flow.LoaderConfig[int, string]{Fetch: s.fetch}, func(t *testing.T, l *flow.Loader[int, string]) {
		got, err := l.LoadAll(t.Context(), 1, -2, 3, 4)
		var failed flow.KeyErrors[int]
		if !errors.As(err, &failed) || len(failed) != 2 || !errors.Is(failed[-2], flow.ErrMissing) ||
			!errors.Is(failed[3], errBroken) {
			t.Errorf("errors %v", err)
		}
		if len(got) != 2 || got[1] != "1" || got[4] != "4" {
			t.Errorf("%v", got)
		}
	})
}

func TestErrorOfAFetchIsThatOfItsKeys(t *testing.T) {
	for name, c := range map[string]struct {
		fetch func(context.Context, []int) (map[int]string, error)
		is    func(error) bool
	}{
		"error": {func(context.Context, []int) (map[int]string, error) { return nil, errBroken },
			func(err error) bool { return errors.Is(err, errBroken) }},
		"panic": {func(context.Context, []int) (map[int]string, error) { panic(errBroken) }, func(err error) bool {
			var p *flow.PanicError
			return errors.As(err, &p)
		}},
		"exit": {func(context.Context, []int) (map[int]string, error) { runtime.Goexit(); return nil, nil },
			func(err error) bool { return errors.Is(err, flow.ErrExited) }},
		"nothing at all": {func(context.Context, []int) (map[int]string, error) { return nil, nil },
			func(err error) bool { return errors.Is(err, flow.ErrMissing) }},
		"no function": {nil, func(err error) bool { return err != nil }},
		"other keys only": {func(context.Context, []int) (map[int]string, error) { return map[int]string{8: "8"}, nil },
			func(err error) bool { return errors.Is(err, flow.ErrMissing) }},
	} {
		withLoader(t, flow.LoaderConfig[int, string]{Fetch: c.fetch, CacheSize: 10},
			func(t *testing.T, l *flow.Loader[int, string]) {
				for range 2 { // the second time it is fetched again
					if v, err := l.Load(t.Context(), 1); !c.is(err) {
						t.Errorf("%s: %q, %v", name, v, err)
					}
				}
				if n := l.Stats().Fetches; c.fetch != nil && n != 2 {
					t.Errorf("%s: %d fetches: a failure was kept", name, n)
				}
			})
	}
}

// What a fetch brought along with its error counts: the error is that of the keys it did not bring.
func TestValuesThatCameWithAnErrorCount(t *testing.T) {
	fetch := func(context.Context, []int) (map[int]string, error) { return map[int]string{1: "1"}, errBroken }
	withLoader(t, flow.LoaderConfig[int, string]{Fetch: fetch}, func(t *testing.T, l *flow.Loader[int, string]) {
		got, err := l.LoadAll(t.Context(), 1, 2)
		if got[1] != "1" || !errors.Is(err, errBroken) {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestCallerThatLeavesHurtsNobodyElse(t *testing.T) {
	s := &table{takes: time.Second}
	withLoader(t, flow.LoaderConfig[int, string]{Fetch: s.fetch}, func(t *testing.T, l *flow.Loader[int, string]) {
		ctx, cancel := context.WithCancelCause(t.Context())
		var wg sync.WaitGroup
		leaves := func(key int) {
			wg.Go(func() {
				if _, err := l.Load(ctx, key); !errors.Is(err, errBroken) {
					t.Errorf("key %d: %v", key, err)
				}
			})
		}
		leaves(0) // its fetch runs, and another one waits for it
		synctest.Wait()
		wg.Go(func() { wantLoaded(t, l, 0) })
		leaves(1) // asked for by both
		wg.Go(func() { wantLoaded(t, l, 1) })
		leaves(2) // by nobody else
		synctest.Wait()
		cancel(errBroken)
		wg.Wait()
		s.wantFetches(t, []int{0}, []int{1})
		wantLoaded(t, l, 2)
	})
}

func TestFetchThatHangsEndsWithItsTimeout(t *testing.T) {
	s := &table{takes: time.Hour}
	withLoader(t, flow.LoaderConfig[int, string]{Fetch: s.fetch, Timeout: time.Second},
		func(t *testing.T, l *flow.Loader[int, string]) {
			var late *flow.TimeoutError
			took := elapsed(func() {
				if _, err := l.Load(t.Context(), 1); !errors.As(err, &late) ||
					!errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v", err)
				}
			})
			if took != time.Second {
				t.Errorf("after %v", took)
			}
		})
}

func TestKeptValuesAreBoundedByNumberAndTime(t *testing.T) {
	s := &table{}
	withLoader(t, flow.LoaderConfig[int, string]{Fetch: s.fetch, CacheSize: 2, TTL: time.Minute},
		func(t *testing.T, l *flow.Loader[int, string]) {
			for _, key := range []int{1, 2, 1, 3, 1, 2} { // 3 drives out 2, which was not used for longest
				wantLoaded(t, l, key)
			}
			s.wantFetches(t, []int{1}, []int{2}, []int{3}, []int{2})
			time.Sleep(time.Minute)
			wantLoaded(t, l, 1)
			s.wantFetches(t, []int{1}, []int{2}, []int{3}, []int{2}, []int{1})
			l.Forget(1)
			wantLoaded(t, l, 1)
			if n := l.Stats().Cached; n != 2 {
				t.Errorf("%d answers were kept ones", n)
			}
		})
}

func TestForgottenKeyIsFetchedAnew(t *testing.T) {
	s := &table{takes: time.Second}
	withLoader(t, flow.LoaderConfig[int, string]{Fetch: s.fetch, CacheSize: 9},
		func(t *testing.T, l *flow.Loader[int, string]) {
			var wg sync.WaitGroup
			wg.Go(func() { wantLoaded(t, l, 1) })
			synctest.Wait()
			l.Forget(1) // what is being fetched may be old
			wantLoaded(t, l, 1)
			wg.Wait()
			wantLoaded(t, l, 1)
			s.wantFetches(t, []int{1}, []int{1})
		})
}

func TestCloseAnswersWhatWasAskedAndRefusesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &table{takes: time.Second}
		l := flow.NewLoader(flow.LoaderConfig[int, string]{Fetch: s.fetch})
		var wg sync.WaitGroup
		wg.Go(func() { wantLoaded(t, l, 1) })
		synctest.Wait()
		wg.Go(func() { wantLoaded(t, l, 2) })
		synctest.Wait()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if _, err := l.Load(t.Context(), 3); !errors.Is(err, flow.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if _, err := l.LoadAll(t.Context(), 3, 4); !errors.Is(err, flow.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestShutdownEndsFetchesThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &table{takes: 1000 * time.Hour}
		l := flow.NewLoader(flow.LoaderConfig[int, string]{Fetch: s.fetch})
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := l.Load(t.Context(), 1); !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		wg.Wait()
	})
}

// A hundred look-ups on one worker: each gives it back while it waits, so they all travel in a few fetches.
func TestWhoWaitsForALoaderNeedsNoWorker(t *testing.T) {
	s := &table{takes: time.Second}
	withLoader(t, flow.LoaderConfig[int, string]{Fetch: s.fetch}, func(t *testing.T, l *flow.Loader[int, string]) {
		one := flow.Single()
		look := flow.Map(numbers(100, 0), l.Load, flow.Options{Concurrency: 100, Scheduler: one, Ordered: true})
		var got []string
		took := elapsed(func() { got = collect(t, look) })
		if len(got) != 100 || got[99] != "99" || took > 2*time.Second {
			t.Errorf("%d values in %v, by fetches %v", len(got), took, s.fetches)
		}
	})
}

// Whatever is asked for and when, every caller gets the value of its own key, and no key is being fetched twice at
// once.
func TestEveryCallerGetsItsOwnAnswerWhateverTheTiming(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		type asking struct{ at, key, leaves int }
		asks := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) asking {
			return asking{rapid.IntRange(0, 40).Draw(r, "at"), rapid.IntRange(-2, 8).Draw(r, "key"),
				rapid.SampledFrom([]int{0, 0, 1, 5}).Draw(r, "leaves")}
		}), 0, 30).Draw(r, "asks")
		c := flow.LoaderConfig[int, string]{
			MaxKeys: rapid.IntRange(1, 5).Draw(r, "max"), Concurrency: rapid.IntRange(1, 3).Draw(r, "concurrency"),
			CacheSize: rapid.IntRange(0, 3).Draw(r, "cache"), TTL: 6 * time.Millisecond,
		}
		var mu sync.Mutex
		running := map[int]bool{}
		c.Fetch = func(_ context.Context, keys []int) (map[int]string, error) {
			mu.Lock()
			for _, k := range keys {
				if running[k] {
					t.Errorf("key %d is being fetched twice at once", k)
				}
				running[k] = true
			}
			mu.Unlock()
			time.Sleep(3 * time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			values, failed := map[int]string{}, flow.KeyErrors[int]{}
			for _, k := range keys {
				delete(running, k)
				switch {
				case k == -1:
					failed[k] = errBroken
				case k >= 0:
					values[k] = fmt.Sprint(k)
				}
			}
			return values, failed
		}
		withLoader(t, c, func(t *testing.T, l *flow.Loader[int, string]) {
			var wg sync.WaitGroup
			for _, a := range asks {
				wg.Go(func() {
					time.Sleep(time.Duration(a.at) * time.Millisecond)
					ctx, cancel := t.Context(), func() {}
					if a.leaves > 0 {
						ctx, cancel = context.WithTimeout(ctx, time.Duration(a.leaves)*time.Millisecond)
					}
					defer cancel()
					v, err := l.Load(ctx, a.key)
					switch {
					case errors.Is(err, context.DeadlineExceeded) && a.leaves > 0:
					case a.key == -1 && errors.Is(err, errBroken), a.key == -2 && errors.Is(err, flow.ErrMissing):
					case a.key >= 0 && err == nil && v == fmt.Sprint(a.key):
					default:
						t.Errorf("%+v: %q, %v", a, v, err)
					}
				})
			}
			wg.Wait()
		})
		if t.Failed() {
			r.Fatal("see above")
		}
	})
}
