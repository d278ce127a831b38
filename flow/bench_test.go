package flow_test

import (
	"context"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/flow"
)

// channelPool is what one writes by hand: a source, workers and a reader on channels, all of which can be cancelled.
func channelPool(ctx context.Context, n, workers int, f func(context.Context, int) (int, error)) (sum int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		value int
		err   error
	}
	jobs, results := make(chan int), make(chan result)
	go func() {
		defer close(jobs)
		for i := range n {
			select {
			case jobs <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range jobs {
				v, err := f(ctx, i)
				select {
				case results <- result{v, err}:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	go func() {
		wg.Wait()
		close(results)
	}()
	for r := range results {
		if r.err != nil {
			return sum, r.err
		}
		sum += r.value
	}
	return sum, ctx.Err()
}

func nothing(_ context.Context, i int) (int, error) { return i, nil }

func BenchmarkMap(b *testing.B) {
	run := func(o flow.Options) func(b *testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			count := flow.Source(func(_ context.Context, emit func(int) bool) error {
				for i := range b.N {
					if !emit(i) {
						return nil
					}
				}
				return nil
			})
			sum := 0
			for v, err := range flow.Map(count, nothing, o)(b.Context()) {
				if err != nil {
					b.Fatal(err)
				}
				sum += v
			}
		}
	}
	b.Run("channels", func(b *testing.B) {
		b.ReportAllocs()
		if _, err := channelPool(b.Context(), b.N, 4, nothing); err != nil {
			b.Fatal(err)
		}
	})
	b.Run("inline", run(flow.Options{}))
	b.Run("4", run(flow.Options{Concurrency: 4}))
	b.Run("4-ordered", run(flow.Options{Concurrency: 4, Ordered: true}))
	b.Run("4-scheduler", run(flow.Options{Scheduler: flow.Parallel(4)}))
	b.Run("4-prefetch-1", run(flow.Options{Concurrency: 4, Prefetch: 1}))
	b.Run("256", run(flow.Options{Concurrency: 256}))
}
