package flow_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/flow"
)

// a timing is what a stage is put through: how long each item takes to come, to be worked on and to be read, and which
// of them fail.
type timing struct {
	comes, takes, reads []time.Duration
	fails               []bool
	sourceFails         bool
	breakAt             int // items after which the reader leaves; -1: it stays
	pieces              []int
	options             flow.Options
}

func drawTiming(t *rapid.T) (w timing) {
	n := rapid.IntRange(0, 30).Draw(t, "items")
	ms := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.SampledFrom([]int{0, 0, 1, 2, 5, 30}).Draw(t, "ms")) * time.Millisecond
	})
	w.comes = rapid.SliceOfN(ms, n, n).Draw(t, "comes")
	w.takes = rapid.SliceOfN(ms, n, n).Draw(t, "takes")
	w.reads = rapid.SliceOfN(ms, n, n).Draw(t, "reads")
	w.pieces = rapid.SliceOfN(rapid.IntRange(0, 4), n, n).Draw(t, "pieces")
	w.fails = rapid.SliceOfN(
		rapid.Custom(func(t *rapid.T) bool { return rapid.IntRange(0, 15).Draw(t, "fails") == 15 }), n, n).Draw(t,
		"which fail")
	w.sourceFails = rapid.Bool().Draw(t, "source fails")
	w.breakAt = rapid.SampledFrom([]int{-1, -1, 0, 1, 5, 17}).Draw(t, "break at")
	w.options = flow.Options{
		Concurrency: rapid.IntRange(1, 6).Draw(t, "concurrency"),
		Prefetch:    rapid.IntRange(0, 4).Draw(t, "prefetch"),
		KeepGoing:   rapid.Bool().Draw(t, "keep going"),
	}
	switch rapid.IntRange(0, 3).Draw(t, "scheduler") {
	case 1:
		w.options.Scheduler = flow.Single()
	case 2:
		w.options.Scheduler = flow.Parallel(2)
	case 3:
		w.options.Scheduler = flow.Elastic(3)
	}
	return w
}

func (w *timing) source() flow.Stream[int] {
	return flow.Source(func(ctx context.Context, emit func(int) bool) error {
		for i, d := range w.comes {
			if err := flow.Sleep(ctx, d); err != nil {
				return err
			}
			if !emit(i) {
				return nil
			}
		}
		if w.sourceFails {
			return errBroken
		}
		return nil
	})
}

func (w *timing) work(ctx context.Context, i int) (int, error) {
	if err := wait(ctx, w.takes[i]); err != nil {
		return 0, err
	}
	if w.fails[i] {
		return 0, fmt.Errorf("item %d: %w", i, errBroken)
	}
	return 10 * i, nil
}

// stream emits as many pieces as the item has, and then fails if it is to.
func (w *timing) stream(i int) flow.Stream[int] {
	return flow.Source(func(ctx context.Context, emit func(int) bool) error {
		for k := range w.pieces[i] {
			if err := wait(ctx, w.takes[i]); err != nil {
				return err
			}
			if !emit(10*i + k) {
				return nil
			}
		}
		if w.fails[i] {
			return fmt.Errorf("item %d: %w", i, errBroken)
		}
		return nil
	})
}

// transcript is everything that a reader saw.
func (w *timing) transcript(ctx context.Context, s flow.Stream[int]) (seen []string) {
	for v, err := range s(ctx) {
		if err != nil {
			seen = append(seen, err.Error())
		} else {
			seen = append(seen, fmt.Sprint(v))
		}
		if len(seen) == w.breakAt {
			break
		}
		if len(seen) <= len(w.reads) {
			time.Sleep(w.reads[len(seen)-1])
		}
	}
	return seen
}

// both runs a stage in order, and one item after the other, each in a bubble that also sees whether a goroutine is
// left.
func both(t *testing.T, w *timing, stage func(o flow.Options) flow.Stream[int]) (ordered, sequence []string) {
	o := w.options
	o.Ordered = true
	synctest.Test(t, func(t *testing.T) { ordered = w.transcript(t.Context(), stage(o)) })
	one := flow.Options{KeepGoing: o.KeepGoing}
	synctest.Test(t, func(t *testing.T) { sequence = w.transcript(t.Context(), stage(one)) })
	return ordered, sequence
}

func TestOrderedOutputIsThatOfASequenceWhateverTheTiming(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := drawTiming(r)
		ordered, sequence := both(t, &w,
			func(o flow.Options) flow.Stream[int] { return flow.Map(w.source(), w.work, o) })
		if !slices.Equal(ordered, sequence) {
			r.Fatalf("in order\n%q\none after the other\n%q", ordered, sequence)
		}
	})
}

func TestOrderedStreamsAreThoseOfASequenceWhateverTheTiming(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := drawTiming(r)
		ordered, sequence := both(t, &w,
			func(o flow.Options) flow.Stream[int] { return flow.FlatMap(w.source(), w.stream, o) })
		if !slices.Equal(ordered, sequence) {
			r.Fatalf("in order\n%q\none after the other\n%q", ordered, sequence)
		}
	})
}

// Without an order everything comes all the same, once, and with errors kept going so does every error.
func TestUnorderedOutputHasTheSameItemsWhateverTheTiming(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := drawTiming(r)
		w.options.KeepGoing, w.breakAt = true, -1
		perKey := rapid.IntRange(1, 3).Draw(r, "per key")
		for name, stage := range map[string]func(o flow.Options) flow.Stream[int]{
			"Map":     func(o flow.Options) flow.Stream[int] { return flow.Map(w.source(), w.work, o) },
			"FlatMap": func(o flow.Options) flow.Stream[int] { return flow.FlatMap(w.source(), w.stream, o) },
			"FlatMapByKey": func(o flow.Options) flow.Stream[int] {
				return flow.FlatMapByKey(w.source(), func(i int) int { return i % 3 }, perKey, w.stream, o)
			},
		} {
			var any, sequence []string
			synctest.Test(t, func(t *testing.T) { any = w.transcript(t.Context(), stage(w.options)) })
			synctest.Test(t, func(t *testing.T) {
				sequence = w.transcript(t.Context(),
					stage(flow.Options{KeepGoing: true}))
			})
			slices.Sort(any)
			slices.Sort(sequence)
			if !slices.Equal(any, sequence) {
				r.Fatalf("%s: as they come\n%q\none after the other\n%q", name, any, sequence)
			}
		}
	})
}

// A run that is cancelled at any moment ends at once, with the reason, and leaves no goroutine: the bubble would not
// end with one.
func TestCancellationAtAnyMomentEndsEverything(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := drawTiming(r)
		w.options.Ordered = rapid.Bool().Draw(r, "ordered")
		w.options.Retry = flow.Retry{Attempts: rapid.IntRange(1, 3).Draw(r, "attempts"), Wait: 7 * time.Millisecond}
		if rapid.Bool().Draw(r, "limited") {
			w.options.Timeout = 6 * time.Millisecond
		}
		after := time.Duration(rapid.IntRange(0, 120).Draw(r, "cancelled after")) * time.Millisecond
		for name, s := range map[string]flow.Stream[int]{
			"Map":     flow.Map(w.source(), w.work, w.options),
			"FlatMap": flow.FlatMap(w.source(), w.stream, w.options),
			"by key":  flow.FlatMapByKey(w.source(), func(i int) int { return i % 2 }, 1, w.stream, w.options),
			"nested": flow.Map(flow.FlatMap(w.source(), w.stream, w.options),
				func(ctx context.Context, i int) (int, error) {
					all, err := flow.Collect(ctx, flow.Map(flow.Of(i/10), w.work, w.options))
					return len(all), err
				}, w.options),
			"Zip": flow.Map(flow.Zip(w.source(), flow.Buffer(w.source(), 2)),
				func(_ context.Context, p flow.Pair[int, int]) (int, error) { return p.First, nil }, w.options),
			"Tee": flow.Tee(w.source(), func(ctx context.Context, s flow.Stream[int]) error {
				return flow.ForEach(ctx, s, func(i int) error { return wait(ctx, w.takes[i]) })
			}),
			"Batch": flow.Map(flow.Batch(w.source(), 3), func(_ context.Context, b []int) (int, error) {
				return b[0],
					nil
			}, w.options),
			"Throttle": flow.Throttle(w.source(), 3*time.Millisecond),
			"Merge":    flow.Merge(w.source(), w.source(), flow.Interval(4*time.Millisecond)),
		} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				began := time.Now()
				defer time.AfterFunc(after, func() { cancel(errBroken) }).Stop()
				var last error
				for _, err := range s(ctx) {
					last = err
					if ctx.Err() == nil && time.Since(began) > 10*time.Second {
						t.Errorf("%s goes on for ever", name)
						break
					}
				}
				if took := time.Since(began); took > after && ctx.Err() != nil {
					t.Errorf("%s: cancelled after %v, ended after %v", name, after, took)
				}
				if ctx.Err() != nil && last == nil && name == "Merge" {
					t.Errorf("%s ended well though it was cancelled", name)
				}
				cancel(nil)
			})
		}
		if t.Failed() {
			r.Fatal("see above")
		}
	})
}
