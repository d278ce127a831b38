package file_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// BenchmarkPutWhileScrubbing is what a scrub costs those who put: durable groups of a record of 1000 bytes, without a
// scrub, with one at the usual rate and with one as fast as the disk gives bytes, in slices that take turns. What is
// scrubbed is not in the page cache. The figures are medians over the slices; a ratio is of neighbouring ones.
func BenchmarkPutWhileScrubbing(b *testing.B) {
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			dir := b.TempDir()
			j, err := file.Open(b.Context(), file.Options{Dir: dir})
			if err != nil {
				b.Fatal(err)
			}
			defer j.Close() //nolint:errcheck // nothing of it is kept
			for n := range 300 {
				if err := j.Write([]journal.Record{message(n, 1<<20)}); err != nil {
					b.Fatal(err)
				}
			}
			if err := j.Sync(b.Context()); err != nil {
				b.Fatal(err)
			}
			names, err := filepath.Glob(filepath.Join(dir, "*.log"))
			if err != nil {
				b.Fatal(err)
			}
			for _, name := range names[:len(names)-1] {
				if err := file.DropFromCache(name); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				scrubSlices(b, j, writers)
			}
		})
	}
}

// scrubSlices lets the three take turns and reports them.
func scrubSlices(b *testing.B, j *file.Journal, writers int) {
	sides := []struct {
		name string
		rate int64
	}{{"off", -1}, {"8MiB", 8 << 20}, {"unbounded", 0}}
	figures := make([][]sliceFigures, len(sides))
	for turn := range 12 {
		for k := range sides {
			side := (turn + k) % len(sides)
			ctx, cancel := context.WithCancel(b.Context())
			var scrub sync.WaitGroup
			before := j.Stats().ScrubbedBytes
			if sides[side].rate >= 0 {
				scrub.Go(func() { file.ScrubUntil(ctx, j, sides[side].rate) })
			}
			f := putSlice(b, j, writers, 500*time.Millisecond)
			cancel()
			scrub.Wait()
			f.scrubbed = float64(j.Stats().ScrubbedBytes-before) / 0.5 / 1e6
			figures[side] = append(figures[side], f)
		}
	}
	for side, fs := range figures {
		of := func(get func(turn int) float64) float64 {
			var all []float64
			for turn := range fs {
				all = append(all, get(turn))
			}
			slices.Sort(all)
			return all[len(all)/2]
		}
		name := sides[side].name
		b.ReportMetric(of(func(i int) float64 { return fs[i].rate }), name+"-put/s")
		b.ReportMetric(of(func(i int) float64 { return fs[i].p50 }), name+"-p50-us")
		b.ReportMetric(of(func(i int) float64 { return fs[i].p99 }), name+"-p99-us")
		if side == 0 {
			continue
		}
		b.ReportMetric(of(func(i int) float64 { return fs[i].rate / figures[0][i].rate }), name+"-ratio")
		b.ReportMetric(of(func(i int) float64 { return fs[i].scrubbed }), name+"-MB/s")
	}
}

// sliceFigures are those of one slice: puts a second, times in microseconds, megabytes a second that were scrubbed.
type sliceFigures struct{ rate, p50, p99, scrubbed float64 }

// putSlice puts for a while.
func putSlice(b *testing.B, j *file.Journal, writers int, d time.Duration) sliceFigures {
	var all []time.Duration
	var mu sync.Mutex
	var over atomic.Bool
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			var mine []time.Duration
			for n := 0; !over.Load(); n++ {
				begun := time.Now()
				if _, err := appendWait(j, message(w, 1000)); err != nil {
					b.Error(err)
					return
				}
				mine = append(mine, time.Since(begun))
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, mine...)
		})
	}
	time.Sleep(d)
	over.Store(true)
	group.Wait()
	slices.Sort(all)
	us := func(i int) float64 { return float64(all[i].Nanoseconds()) / 1e3 }
	return sliceFigures{rate: float64(len(all)) / d.Seconds(), p50: us(len(all) / 2), p99: us(len(all) * 99 / 100)}
}
