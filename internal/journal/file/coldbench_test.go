package file_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// BenchmarkKeepAndRelease tells a journal what is needed of many records, in the order of the log, and releases all of
// it.
func BenchmarkKeepAndRelease(b *testing.B) {
	const groups, perGroup = 1000, 1000
	j, err := file.Open(b.Context(), file.Options{Dir: b.TempDir(), Durability: journal.OS})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	records := make([]journal.Record, perGroup)
	for i := range records {
		records[i] = journal.Record{Life: journal.Lasting, Body: make([]byte, 100)}
	}
	addrs := make([]journal.Address, 0, groups*perGroup)
	for range groups {
		if err := j.Write(records); err != nil {
			b.Fatal(err)
		}
		for i := range records {
			addrs = append(addrs, journal.Address{Position: j.End(), Index: uint32(i)})
		}
	}
	var keep, release time.Duration
	for b.Loop() {
		began := time.Now()
		j.Keep(slices.Values(addrs))
		keep += time.Since(began)
		began = time.Now()
		j.Release(addrs...)
		release += time.Since(began)
	}
	each := float64(b.N) * float64(len(addrs))
	b.ReportMetric(float64(keep.Nanoseconds())/each, "ns/kept")
	b.ReportMetric(float64(release.Nanoseconds())/each, "ns/released")
}

// BenchmarkDrainOfAColdBacklog reads a backlog of messages of 1000 bytes back in the order of one queue, from the log,
// where seven queues are mixed, and from the cold segments that cleaning made of it, with nothing in the page cache;
// and beside it the plain reading of a file. The ratio is to that.
func BenchmarkDrainOfAColdBacklog(b *testing.B) {
	for _, moved := range []bool{false, true} {
		for _, many := range []int{1, 10, 100} {
			b.Run(fmt.Sprintf("moved=%t/at once=%d", moved, many), func(b *testing.B) {
				dir := b.TempDir()
				o := file.Options{Dir: dir, CleanBytes: 4 << 30}
				if !moved {
					o.CleanBytes = -1
				}
				j, err := file.Open(b.Context(), o)
				if err != nil {
					b.Fatal(err)
				}
				defer j.Close()
				mine := mixed(b, j, moved)
				var ours, plain []float64
				for range max(5, b.N) {
					forget(b, dir)
					ours = append(ours, drain(b, j, mine, many))
					forget(b, dir)
					plain = append(plain, readPlain(b, dir))
				}
				b.ReportMetric(quartile(ours, 2)/1e6, "MB/s")
				b.ReportMetric(quartile(plain, 2)/1e6, "plain-MB/s")
				b.ReportMetric(quartile(ours, 2)/quartile(plain, 2), "ratio")
			})
		}
	}
}

// mixed appends 100 MB of one queue. When they are to be moved, nine times as much of others lies between them, is
// released, and cleaning has moved the rest when it returns.
func mixed(b *testing.B, j *file.Journal, moved bool) (mine []journal.Address) {
	j.Keep(none)
	body := make([]byte, 1000)
	for n := range 100_000 {
		if moved {
			if err := j.Write([]journal.Record{{Queue: 2, Life: journal.Passing, Sequence: uint64(n),
				Body: make([]byte, 3000)}}); err != nil {
				b.Fatal(err)
			}
		}
		if err := j.Write([]journal.Record{{Queue: 1, Life: journal.Lasting, Sequence: uint64(n),
			Body: body}}); err != nil {
			b.Fatal(err)
		}
		mine = append(mine, journal.Address{Position: j.End()})
	}
	if err := j.Write([]journal.Record{{Body: make([]byte, 60<<20)}}); err != nil { // the last of them are sealed
		b.Fatal(err)
	}
	for range 2 {
		if err := j.SaveCheckpoint(b.Context(), j.End(), writeNothing); err != nil {
			b.Fatal(err)
		}
	}
	for moved && j.Stats().Segments > 6 {
		time.Sleep(10 * time.Millisecond) // a benchmark may wait
	}
	if err := j.Sync(b.Context()); err != nil {
		b.Fatal(err)
	}
	if moved {
		time.Sleep(time.Second)
	}
	return mine
}

// drain reads records and returns bytes a second.
func drain(b *testing.B, j journal.Journal, addrs []journal.Address, many int) float64 {
	began, bytes := time.Now(), 0
	for part := range slices.Chunk(addrs, many) {
		err := j.Read(b.Context(), part, func(_ int, r journal.Record, err error) {
			if err != nil {
				b.Fatal(err)
			}
			bytes += len(r.Body)
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return float64(bytes) / time.Since(began).Seconds()
}

// readPlain reads the largest files of a folder from their beginning, 100 MB of them, and returns bytes a second.
func readPlain(b *testing.B, dir string) float64 {
	names, err := filepath.Glob(filepath.Join(dir, "*.[cl]o*"))
	if err != nil {
		b.Fatal(err)
	}
	began, bytes, buf := time.Now(), 0, make([]byte, 256<<10)
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		for n := 1; n > 0 && bytes < 100<<20; bytes += n {
			n, _ = f.Read(buf)
		}
		f.Close()
	}
	return float64(bytes) / time.Since(began).Seconds()
}

// forget takes the files of a folder out of the page cache.
func forget(b *testing.B, dir string) {
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range names {
		if err := file.DropFromCache(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			b.Fatal(err)
		}
	}
}
