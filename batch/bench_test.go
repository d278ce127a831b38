package batch_test

import (
	"context"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/batch"
)

func nothing(context.Context, []int) []error { return nil }

// BenchmarkLone is the time from a lone item to its result, next to what a bare hand-over to a goroutine and back
// costs.
func BenchmarkLone(b *testing.B) {
	b.Run("grouper", func(b *testing.B) {
		g := batch.New(batch.Config[int]{Handle: nothing})
		defer g.Close()
		ctx := context.Background()
		b.ReportAllocs()
		for b.Loop() {
			_ = g.Do(ctx, 1)
		}
	})
	b.Run("channels", func(b *testing.B) {
		to, back := make(chan int), make(chan error, 1)
		go func() {
			defer close(back)
			for range to {
				back <- nil
			}
		}()
		for b.Loop() {
			to <- 1
			<-back
		}
		close(to)
		<-back
	})
}

func BenchmarkProducers64(b *testing.B) {
	for name, c := range map[string]batch.Config[int]{
		"readiness":  {},
		"thresholds": {MaxCount: 32, Delay: 10 * time.Millisecond},
	} {
		b.Run(name, func(b *testing.B) {
			c := c
			c.Handle = nothing
			g := batch.New(c)
			defer g.Close()
			ctx := context.Background()
			b.ReportAllocs()
			b.SetParallelism(32) // goroutines a core
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_ = g.Do(ctx, 1)
				}
			})
			s := g.Stats()
			b.ReportMetric(float64(s.Items)/float64(s.Groups), "items/group")
		})
	}
}

func BenchmarkPost(b *testing.B) {
	g := batch.New(batch.Config[int]{Handle: nothing})
	defer g.Close()
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		_ = g.PostWait(ctx, 1)
	}
}
