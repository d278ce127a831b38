package file_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
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

// BenchmarkAgainstRaw lets the journal and one writer that writes and syncs by itself alternate in short slices, and
// reports the median of the ratios: a disk's speed swings too much for anything else. The time of an operation means nothing here.
func BenchmarkAgainstRaw(b *testing.B) {
	for _, writers := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			raw := rawWriter(b)
			j, err := file.Open(b.Context(), file.Options{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer j.Close()
			var ratios []float64
			for b.Loop() {
				floor := raw()
				ratios = append(ratios, appendFor(b, j, writers)/floor)
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "x-raw")
		})
	}
}

const slice = 250 * time.Millisecond

// rawWriter returns a function that writes and syncs for a slice of time and returns how many a second it did.
func rawWriter(b *testing.B) func() float64 {
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	raw := file.OSFile(f)
	const size = 64 << 20
	if err := raw.Preallocate(size); err != nil {
		b.Fatal(err)
	}
	body := bytes.Repeat([]byte("x"), 1000)
	at := int64(0)
	return func() float64 {
		n, began := 0, time.Now()
		for ; time.Since(began) < slice; n++ {
			if _, err := raw.WriteAt(body, at); err != nil {
				b.Fatal(err)
			}
			if err := raw.Datasync(); err != nil {
				b.Fatal(err)
			}
			at = (at + int64(len(body))) % (size - 4096)
		}
		return float64(n) / time.Since(began).Seconds()
	}
}

// appendFor appends with many writers for a slice of time and returns how many a second they did.
func appendFor(b *testing.B, j *file.Journal, writers int) float64 {
	body := bytes.Repeat([]byte("x"), 1000)
	var n atomic.Int64
	began := time.Now()
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			done := make(chan error, 1)
			answer := func(_ journal.Position, err error) { done <- err }
			records := []journal.Record{{Queue: 1, Life: journal.Lasting, Body: body}}
			for time.Since(began) < slice {
				if err := j.Append(records, answer); err != nil {
					b.Error(err)
					return
				}
				if err := <-done; err != nil {
					b.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	all.Wait()
	return float64(n.Load()) / time.Since(began).Seconds()
}

// BenchmarkRead reads records of 1000 bytes back: one at a time and 100 at a time, neighbours and any.
func BenchmarkRead(b *testing.B) {
	j, err := file.Open(b.Context(), file.Options{Dir: b.TempDir(), Durability: journal.OS})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	var small, large []journal.Address
	body := bytes.Repeat([]byte("x"), 1000)
	for range 20_000 {
		if err := j.Write([]journal.Record{{Life: journal.Lasting, Body: body}}); err != nil {
			b.Fatal(err)
		}
		small = append(small, journal.Address{Position: j.End()})
	}
	records := make([]journal.Record, 20_000)
	for i := range records {
		records[i] = journal.Record{Life: journal.Lasting, Body: body}
	}
	if err := j.Write(records); err != nil {
		b.Fatal(err)
	}
	for i := range records {
		large = append(large, journal.Address{Position: j.End(), Index: uint32(i)})
	}
	for _, bb := range []struct {
		name  string
		addrs []journal.Address
		many  int
		any   bool
	}{
		{"groups of one/1/next", small, 1, false}, {"groups of one/100/next", small, 100, false}, {"groups of one/100/any", small, 100, true},
		{"one group/1/next", large, 1, false}, {"one group/100/next", large, 100, false}, {"one group/100/any", large, 100, true},
	} {
		b.Run(bb.name, func(b *testing.B) {
			addrs := slices.Clone(bb.addrs)
			if bb.any {
				rand.New(rand.NewPCG(1, 2)).Shuffle(len(addrs), func(i, k int) { addrs[i], addrs[k] = addrs[k], addrs[i] })
			}
			b.SetBytes(int64(bb.many * len(body)))
			b.ReportAllocs()
			at := 0
			for b.Loop() {
				if at+bb.many > len(addrs) {
					at = 0
				}
				err := j.Read(b.Context(), addrs[at:at+bb.many], func(_ int, r journal.Record, err error) {
					if err != nil || len(r.Body) != len(body) {
						b.Fatal(err)
					}
				})
				if err != nil {
					b.Fatal(err)
				}
				at += bb.many
			}
		})
	}
}

// BenchmarkScan walks a log of a hundred thousand settles and messages.
func BenchmarkScan(b *testing.B) {
	j, err := file.Open(b.Context(), file.Options{Dir: b.TempDir(), Durability: journal.OS})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	const groups = 100_000
	for range groups {
		if err := j.Write([]journal.Record{{Head: make([]byte, 24), Body: make([]byte, 300)}, {Head: make([]byte, 24)}}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range j.Scan(b.Context(), 0) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != groups {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/groups, "ns/group")
}
