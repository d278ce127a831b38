package flow_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/flow"
)

// variants are the ways in which a stage with a function can run.
func variants() map[string]flow.Options {
	return map[string]flow.Options{
		"inline":           {},
		"inline scheduler": {Scheduler: flow.Single()},
		"as completed":     {Concurrency: 3},
		"ordered":          {Concurrency: 3, Ordered: true},
		"read ahead":       {Concurrency: 1, Prefetch: 8},
		"parallel":         {Concurrency: 8, Scheduler: flow.Parallel(2)},
	}
}

// stages are the stages with a function, each as a Map of it.
func stages(in flow.Stream[int], f func(context.Context, int) (int, error),
	o flow.Options) map[string]flow.Stream[int] {
	stream := func(i int) flow.Stream[int] {
		return flow.Source(func(ctx context.Context, emit func(int) bool) error {
			v, err := f(ctx, i)
			if err == nil {
				emit(v)
			}
			return err
		})
	}
	return map[string]flow.Stream[int]{
		"Map":          flow.Map(in, f, o),
		"FlatMap":      flow.FlatMap(in, stream, o),
		"FlatMapByKey": flow.FlatMapByKey(in, func(i int) int { return i % 2 }, 2, stream, o),
	}
}

// everyStage runs check for each stage in each way, in a bubble, which fails if a goroutine is left.
func everyStage(t *testing.T, in flow.Stream[int], f func(context.Context, int) (int, error),
	check func(t *testing.T, s flow.Stream[int])) {
	t.Helper()
	for way, o := range variants() {
		for name, s := range stages(in, f, o) {
			t.Run(name+" "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { check(t, s) })
			})
		}
	}
}

func TestFirstErrorCancelsTheRestAndIsTheLastPair(t *testing.T) {
	everyStage(t, flow.Merge(flow.Of(0, 1, 2, 3), hanging[int]()), func(ctx context.Context, i int) (int, error) {
		if i == 2 {
			return 0, errBroken
		}
		return i, wait(ctx, time.Duration(i)*time.Hour)
	}, func(t *testing.T, s flow.Stream[int]) {
		began := time.Now()
		items, errs := read(s(t.Context()))
		if len(errs) != 1 || !errors.Is(errs[0], errBroken) || slices.Contains(items, 3) {
			t.Errorf("%v, errors %v", items, errs)
		}
		if took := time.Since(began); took > time.Hour {
			t.Errorf("it took %v: an item after the failed one was waited for", took)
		}
	})
}

func TestErrorsInTheirPlaceWhereTheStageKeepsGoing(t *testing.T) {
	for way, o := range variants() {
		o.KeepGoing = true
		for name, s := range stages(failing(9), func(_ context.Context, i int) (int, error) {
			if i%3 == 1 {
				return 0, fmt.Errorf("item %d: %w", i, errBroken)
			}
			return i, nil
		}, o) {
			items, errs := read(s(t.Context()))
			slices.Sort(items)
			if !slices.Equal(items, []int{0, 2, 3, 5, 6, 8}) || len(errs) != 4 {
				t.Errorf("%s %s: %v, errors %v", name, way, items, errs)
			}
		}
	}
}

func TestSourceThatFailsEndsTheStreamAfterWhatCameBefore(t *testing.T) {
	for _, o := range []flow.Options{{}, {Concurrency: 4, Ordered: true}} {
		for name, s := range stages(failing(50), itself, o) {
			items, errs := read(s(t.Context()))
			if name != "FlatMapByKey" && len(items) != 50 || len(errs) != 1 || !errors.Is(errs[0], errBroken) {
				t.Errorf("%s %+v: %d items, errors %v", name, o, len(items), errs)
			}
		}
	}
}

func TestPanicOfAStageIsAnErrorWithItsStack(t *testing.T) {
	everyStage(t, flow.Of(0, 1, 2), func(_ context.Context, i int) (int, error) {
		if i == 1 {
			panic(errBroken)
		}
		return i, nil
	}, func(t *testing.T, s flow.Stream[int]) {
		_, errs := read(s(t.Context()))
		var p *flow.PanicError
		if len(errs) != 1 || !errors.As(errs[0], &p) || !strings.Contains(string(p.Stack), "TestPanicOfAStage") {
			t.Fatalf("errors %v", errs)
		}
		if !errors.Is(errs[0], errBroken) || !strings.Contains(errs[0].Error(), "panic: broken") {
			t.Errorf("it does not tell what was thrown: %v", errs[0])
		}
	})
}

func TestPanicOfASourceIsAnError(t *testing.T) {
	raw := func(context.Context) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			yield(1, nil)
			panic("no more")
		}
	}
	var absent flow.Stream[int]
	for name, s := range map[string]flow.Stream[int]{
		"Source": flow.Source(func(context.Context, func(int) bool) error { panic("no more") }),
		"Take":   flow.Take(raw, 5), "On": flow.On(flow.Single(), raw), "Buffer": flow.Buffer(raw, 3),
		"Merge": flow.Merge(raw),
		"Tee":   flow.Tee(raw), "Throttle": flow.Throttle(raw, 0), "Log": flow.Log(raw, "raw", func(flow.Event) {}),
		"Map":            flow.Map(raw, itself, flow.Options{}),
		"Map of nothing": flow.Map(absent, itself, flow.Options{Concurrency: 2}),
		"key": flow.FlatMapByKey(flow.Of(1), func(int) int { panic("no key") }, 1,
			func(int) flow.Stream[int] { return raw }, flow.Options{Concurrency: 2}),
		"side": flow.Tee(hanging[int](), func(context.Context, flow.Stream[int]) error { panic("no side") }),
	} {
		_, errs := read(s(t.Context()))
		var p *flow.PanicError
		if len(errs) != 1 || !errors.As(errs[0], &p) {
			t.Errorf("%s: errors %v", name, errs)
		}
	}
	if err := flow.ForEach(t.Context(), raw, func(int) error { return nil }); err == nil {
		t.Error("ForEach ended well over a source that panicked")
	}
	if err := flow.ForEach(t.Context(), flow.Of(1), func(int) error { panic("no") }); err == nil {
		t.Error("ForEach ended well over a function that panicked")
	}
}

func TestFunctionThatEndsItsGoroutineFailsItsItemAlone(t *testing.T) {
	o := flow.Options{Concurrency: 2, KeepGoing: true}
	for name, s := range stages(flow.Of(0, 1, 2, 3, 4, 5), func(_ context.Context, i int) (int, error) {
		if i%2 == 1 {
			runtime.Goexit()
		}
		return i, nil
	}, o) {
		items, errs := read(s(t.Context()))
		slices.Sort(items)
		if !slices.Equal(items, []int{0, 2, 4}) || len(errs) != 3 || !errors.Is(errs[0], flow.ErrExited) {
			t.Errorf("%s: %v, errors %v", name, items, errs)
		}
	}
	gone := flow.Source(func(context.Context, func(int) bool) error { runtime.Goexit(); return nil })
	for name, s := range map[string]flow.Stream[int]{
		"Buffer": flow.Buffer(gone, 1), "Map": flow.Map(gone, itself, flow.Options{Concurrency: 2}),
		"side": flow.Tee(hanging[int](),
			func(context.Context, flow.Stream[int]) error { runtime.Goexit(); return nil }),
	} {
		if _, errs := read(s(t.Context())); len(errs) != 1 || !errors.Is(errs[0], flow.ErrExited) {
			t.Errorf("%s: errors %v", name, errs)
		}
	}
}

// The reader's own panic is its own: it passes through every stage, and what they started has ended by then.
func TestPanicOfTheReaderPassesThrough(t *testing.T) {
	everyStage(t, flow.Interval(time.Second), itself, func(t *testing.T, s flow.Stream[int]) {
		defer func() {
			if v := recover(); v != errBroken {
				t.Errorf("recovered %v", v)
			}
		}()
		side := func(ctx context.Context, s flow.Stream[int]) error {
			return flow.ForEach(ctx, s, func(int) error { return nil })
		}
		all := flow.Log(flow.Tee(flow.On(flow.Elastic(2), flow.Buffer(flow.Throttle(s, 1), 2)), side), "all",
			func(flow.Event) {})
		for range all(t.Context()) {
			panic(errBroken)
		}
	})
}

func TestReaderThatStopsEndsEverythingAtOnce(t *testing.T) {
	for n := range 4 {
		everyStage(t, flow.Merge(flow.Of(0, 1, 2, 3, 4, 5, 6, 7), hanging[int]()),
			func(ctx context.Context, i int) (int, error) {
				if i > n {
					return 0, flow.Sleep(ctx, time.Hour)
				}
				return i, nil
			}, func(t *testing.T, s flow.Stream[int]) {
				began, seen := time.Now(), 0
				for range s(t.Context()) {
					if seen++; seen > n {
						break
					}
				}
				if took := time.Since(began); seen != n+1 || took > time.Second {
					t.Errorf("%d items, and it took %v", seen, took)
				}
			})
	}
}

func TestContextThatHasEndedStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errBroken)
	called := false
	for way, o := range variants() {
		for name, s := range stages(flow.Of(1), func(ctx context.Context, i int) (int, error) {
			if ctx.Err() == nil {
				called = true
			}
			return i, nil
		}, o) {
			if _, errs := read(s(ctx)); len(errs) != 1 || !errors.Is(errs[0], errBroken) {
				t.Errorf("%s %s: errors %v", name, way, errs)
			}
		}
	}
	if called {
		t.Error("a function was called with a context that goes on")
	}
}

// A source that ends when its context does, without a word, must not pass for one that was read to its end.
func TestCancelledStreamNeverEndsWell(t *testing.T) {
	for name, run := range map[string]func(ctx context.Context, s flow.Stream[int]) error{
		"Collect": func(ctx context.Context, s flow.Stream[int]) error { _, err := flow.Collect(ctx, s); return err },
		"Map": func(ctx context.Context, s flow.Stream[int]) error {
			_, err := flow.Collect(ctx, flow.Map(s, itself, flow.Options{Concurrency: 2}))
			return err
		},
		"CollectMap": func(ctx context.Context, s flow.Stream[int]) error {
			_, err := flow.CollectMap(ctx, s, func(i int) (int, int) { return i, i })
			return err
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			quiet := func(ctx context.Context) iter.Seq2[int, error] {
				return func(yield func(int, error) bool) {
					for yield(1, nil) && wait(ctx, 300*time.Millisecond) == nil {
					}
				}
			}
			if err := run(ctx, quiet); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestItemThatTakesTooLongFailsAlone(t *testing.T) {
	for way, o := range variants() {
		o.Timeout, o.KeepGoing = time.Second, true
		for name, s := range stages(flow.Of(0, 1, 2), func(ctx context.Context, i int) (int, error) {
			return i, wait(ctx, time.Duration(i)*700*time.Millisecond)
		}, o) {
			synctest.Test(t, func(t *testing.T) {
				items, errs := read(s(t.Context()))
				slices.Sort(items)
				var late *flow.TimeoutError
				if !slices.Equal(items, []int{0, 1}) || len(errs) != 1 || !errors.As(errs[0], &late) ||
					!errors.Is(errs[0], context.DeadlineExceeded) {
					t.Errorf("%s %s: %v, errors %v", name, way, items, errs)
				}
			})
		}
	}
}

func TestFailedItemsAreTriedAgain(t *testing.T) {
	for way, o := range variants() {
		o.Retry = flow.Retry{Attempts: 4, Wait: time.Second, MaxWait: 2 * time.Second}
		tries := make([]int, 3)
		for name, s := range stages(flow.Of(0, 1, 2), func(_ context.Context, i int) (int, error) {
			if tries[i]++; tries[i] <= i {
				return 0, errBroken
			}
			return i, nil
		}, o) {
			clear(tries)
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				items := collect(t, s)
				slices.Sort(items)
				if !slices.Equal(items, []int{0, 1, 2}) || !slices.Equal(tries, []int{1, 2, 3}) {
					t.Errorf("%s %s: %v after %v attempts", name, way, items, tries)
				}
				if took := time.Since(began); took == 0 || took > 4*time.Second {
					t.Errorf("%s %s waited %v", name, way, took)
				}
			})
		}
	}
}

func TestRetryEndsWithAttemptsReasonsAndPanics(t *testing.T) {
	fatal := errors.New("fatal")
	for _, c := range []struct {
		name  string
		retry flow.Retry
		fails func() error
		tries int
	}{
		{"attempts", flow.Retry{Attempts: 3}, func() error { return errBroken }, 3},
		{"none", flow.Retry{}, func() error { return errBroken }, 1},
		{"not worth it", flow.Retry{Attempts: 3, If: func(err error) bool { return !errors.Is(err, fatal) }},
			func() error { return fatal }, 1},
		{"panic", flow.Retry{Attempts: 3}, func() error { panic("no") }, 1},
		{"many", flow.Retry{Attempts: 70, Wait: time.Hour, MaxWait: time.Hour}, func() error { return errBroken }, 70},
	} {
		for name := range stages(nil, nil, flow.Options{}) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				s := stages(flow.Of(1), func(context.Context, int) (int, error) { tries++; return 0, c.fails() },
					flow.Options{Retry: c.retry})[name]
				if _, errs := read(s(t.Context())); len(errs) != 1 || tries != c.tries {
					t.Errorf("%s %s: %d attempts, errors %v", c.name, name, tries, errs)
				}
			})
		}
	}
}

// What was yielded cannot be taken back, so such a stream is not begun again.
func TestStreamThatHasYieldedIsNotTriedAgain(t *testing.T) {
	runs := 0
	s := flow.FlatMap(flow.Of(1), func(int) flow.Stream[int] { runs++; return failing(2) },
		flow.Options{Retry: flow.Retry{Attempts: 5}})
	items, errs := read(s(t.Context()))
	if runs != 1 || len(items) != 2 || len(errs) != 1 {
		t.Errorf("%d runs, %v, errors %v", runs, items, errs)
	}
}
