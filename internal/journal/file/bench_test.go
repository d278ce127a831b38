package file_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// BenchmarkAppend appends 1000-byte bodies, each waited for.
func BenchmarkAppend(b *testing.B) {
	for _, durability := range []journal.Durability{journal.Fsync, journal.OS, journal.None} {
		for _, writers := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("%s/writers=%d", durability, writers), func(b *testing.B) {
				j, err := file.Open(b.Context(), file.Options{Dir: b.TempDir(), Durability: durability})
				if err != nil {
					b.Fatal(err)
				}
				defer j.Close()
				body := bytes.Repeat([]byte("x"), 1000)
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				var next atomic.Int64
				b.ResetTimer()
				var all sync.WaitGroup
				for range writers {
					all.Go(func() {
						done := make(chan error, 1)
						answer := func(_ journal.Position, err error) { done <- err }
						records := []journal.Record{{Queue: 1, Life: journal.Lasting, Body: body}}
						for next.Add(1) <= int64(b.N) {
							if err := j.Append(records, answer); err != nil {
								b.Error(err)
								return
							}
							if err := <-done; err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
				b.StopTimer()
				b.ReportMetric(float64(j.Stats().Syncs)/float64(b.N), "syncs/op")
			})
		}
	}
}

// BenchmarkRaw is the floor: one writer that writes and syncs by itself into an allocated file.
func BenchmarkRaw(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	raw := file.OSFile(f)
	const size = 64 << 20
	if err := raw.Preallocate(size); err != nil {
		b.Fatal(err)
	}
	body := bytes.Repeat([]byte("x"), 1000)
	b.SetBytes(int64(len(body)))
	b.ResetTimer()
	for i := range b.N {
		if _, err := raw.WriteAt(body, int64(i)*int64(len(body))%(size-4096)); err != nil {
			b.Fatal(err)
		}
		if err := raw.Datasync(); err != nil {
			b.Fatal(err)
		}
	}
}
