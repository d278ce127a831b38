package file_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// BenchmarkPutsBesideCleaning measures durable puts of 1000 bytes while cleaning copies, and beside it what the same
// disk does for a raw appender beside a raw copier that writes as many bytes a second: both in slices that alternate,
// because a disk's speed swings. It reports the 99.9th percentiles of both, their ratio, and that without cleaning.
func BenchmarkPutsBesideCleaning(b *testing.B) {
	for _, cleaning := range []bool{false, true} {
		for _, many := range []int{1, 64} {
			b.Run(fmt.Sprintf("cleaning=%t/writers=%d", cleaning, many), func(b *testing.B) {
				o := file.Options{Dir: b.TempDir()}
				if !cleaning {
					o.CleanBytes = -1
				}
				j, err := file.Open(b.Context(), o)
				if err != nil {
					b.Fatal(err)
				}
				defer j.Close()
				dirty(b, j, 800<<20)
				puts := timedWriters(many)
				raw := rawBeside(b)
				var ours, peers []time.Duration
				copied, took := uint64(0), time.Duration(0)
				rounds := max(8, b.N)
				for range rounds {
					before, began := j.Stats().CopiedBytes, time.Now()
					ours = append(ours, puts(b, j)...)
					copied += j.Stats().CopiedBytes - before
					took += time.Since(began)
					peers = append(peers, raw(float64(copied)/took.Seconds())...)
				}
				p := func(d []time.Duration, q float64) float64 {
					slices.Sort(d)
					return float64(d[int(q*float64(len(d)-1))].Microseconds())
				}
				b.ReportMetric(p(ours, 0.5), "p50-µs")
				b.ReportMetric(p(ours, 0.999), "p99.9-µs")
				b.ReportMetric(p(peers, 0.5), "raw-p50-µs")
				b.ReportMetric(p(peers, 0.999), "raw-p99.9-µs")
				b.ReportMetric(p(ours, 0.999)/p(peers, 0.999), "p99.9-ratio")
				b.ReportMetric(float64(copied)/took.Seconds()/1e6, "copied-MB/s")
				b.ReportMetric(float64(len(ours))/took.Seconds(), "puts/s")
			})
		}
	}
}

// dirty fills a journal so that cleaning has enough to do: of every ten messages four stay, so that every segment has
// survivors.
func dirty(b *testing.B, j *file.Journal, bytes int) {
	b.Helper()
	j.Keep(none)
	body := make([]byte, 10_000)
	var gone []journal.Address
	for n := 0; n < bytes/len(body); n++ {
		if err := j.Write([]journal.Record{{Queue: uint32(n % 7), Life: journal.Lasting, Sequence: uint64(n),
			Body: body}}); err != nil {
			b.Fatal(err)
		}
		if n%10 >= 4 {
			gone = append(gone, journal.Address{Position: j.End()})
		}
	}
	j.Release(gone...)
	for range 2 {
		if err := j.SaveCheckpoint(b.Context(), j.End(), writeNothing); err != nil {
			b.Fatal(err)
		}
	}
}

// timedWriters returns a function in which many writers put for a slice of time, and that returns how long each put
// took.
func timedWriters(many int) func(*testing.B, journal.Journal) []time.Duration {
	body := bytes.Repeat([]byte("x"), 1000)
	return func(b *testing.B, j journal.Journal) []time.Duration {
		took := make([][]time.Duration, many)
		began := time.Now()
		var all sync.WaitGroup
		for w := range many {
			all.Go(func() {
				done := make(chan error, 1)
				answer := func(_ journal.Position, err error, _ int) { done <- err }
				records := []journal.Record{{Queue: 1, Life: journal.Lasting, Body: body}}
				for time.Since(began) < slice {
					at := time.Now()
					err := j.Append(records, answer)
					if err == nil {
						err = <-done
					}
					if err != nil {
						b.Error(err)
						return
					}
					took[w] = append(took[w], time.Since(at))
				}
			})
		}
		all.Wait()
		return slices.Concat(took...)
	}
}

// rawBeside returns a function that writes and syncs 1000 bytes at a time for a slice of time, while another goroutine
// copies pieces into a second file at that many bytes a second, as cleaning does. It returns how long each write and
// sync took.
func rawBeside(b *testing.B) func(copied float64) []time.Duration {
	const size = 64 << 20
	logFile, target := rawFile(b, size), rawTarget(b)
	at := int64(0)
	return func(copied float64) []time.Duration {
		var stop atomic.Bool
		var copier sync.WaitGroup
		copier.Go(func() {
			piece, written, unsynced := make([]byte, 256<<10), int64(0), 0
			for began := time.Now(); !stop.Load(); {
				if float64(written) > copied*time.Since(began).Seconds() {
					time.Sleep(time.Millisecond)
					continue
				}
				if _, err := target.WriteAt(piece, written%size); err != nil {
					b.Error(err)
					return
				}
				written += int64(len(piece))
				if unsynced += len(piece); unsynced >= 1<<20 {
					if err := target.Datasync(); err != nil {
						b.Error(err)
						return
					}
					unsynced = 0
				}
			}
		})
		var took []time.Duration
		buf := make([]byte, 1000)
		for began := time.Now(); time.Since(began) < slice; {
			start := time.Now()
			if at+int64(len(buf)) > size {
				at = 0
			}
			if _, err := logFile.WriteAt(buf, at); err != nil {
				b.Fatal(err)
			}
			at += int64(len(buf))
			if err := logFile.Datasync(); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
		}
		stop.Store(true)
		copier.Wait()
		return took
	}
}

// rawTarget returns a file with room for what is copied.
func rawTarget(b *testing.B) file.File {
	f, err := os.Create(filepath.Join(b.TempDir(), "copy"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	target := file.OSFile(f)
	if err := target.Preallocate(64 << 20); err != nil {
		b.Fatal(err)
	}
	return target
}
