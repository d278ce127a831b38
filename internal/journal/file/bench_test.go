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
						answer := func(_ journal.Position, err error, _ int) { done <- err }
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

// BenchmarkAgainstRaw lets the journal and a raw file alternate in slices of half a second, and reports the quartiles
// of the ratios: a disk's speed swings too much for anything else. The raw file is filled with zeros beforehand and is
// written and synced by one writer: the limit of single messages; in megabytes, synced now and then: the limit of many
// large groups. The time of an operation means nothing here.
func BenchmarkAgainstRaw(b *testing.B) {
	for _, bb := range []struct {
		name  string
		raw   func(*testing.B) func() float64
		slice func(*testing.B, journal.Journal) float64
	}{
		{"writers=1", rawWriter, writers(1, 1000)},
		{"writers=16", rawWriter, writers(16, 1000)},
		{"writers=64", rawWriter, writers(64, 1000)},
		{"pipelined", rawStream, pipeline(100, 64)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			j, err := file.Open(b.Context(), file.Options{Dir: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer j.Close()
			raw := bb.raw(b)
			var ratios, rates []float64
			for b.Loop() {
				limit, rate := raw(), bb.slice(b, j)
				ratios, rates = append(ratios, rate/limit), append(rates, rate)
			}
			st := j.Stats()
			b.ReportMetric(quartile(ratios, 1), "x-raw-q1")
			b.ReportMetric(quartile(ratios, 2), "x-raw")
			b.ReportMetric(quartile(ratios, 3), "x-raw-q3")
			b.ReportMetric(quartile(rates, 2), "messages/s")
			b.ReportMetric(float64(st.Groups)/float64(st.Syncs), "groups/sync")
		})
	}
}

const slice = 500 * time.Millisecond

func quartile(values []float64, q int) float64 {
	return slices.Sorted(slices.Values(values))[(len(values)-1)*q/4]
}

// rawFile returns a file filled with zeros, durably.
func rawFile(b *testing.B, size int64) file.File {
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	raw := file.OSFile(f)
	for at := int64(0); at < size; at += 1 << 20 {
		if _, err := raw.WriteAt(make([]byte, 1<<20), at); err != nil {
			b.Fatal(err)
		}
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	return raw
}

// rawWriter returns a function that writes a message and syncs, for a slice of time, and returns how many a second it
// did.
func rawWriter(b *testing.B) func() float64 { return rawRate(b, 1000, 1, 1) }

// rawStream returns a function that writes eight megabytes and syncs, and returns how many messages' bytes a second it
// wrote.
func rawStream(b *testing.B) func() float64 { return rawRate(b, 1<<20, 8, float64(1<<20)/1000) }

func rawRate(b *testing.B, bytes, perSync int, messages float64) func() float64 {
	const size = 64 << 20
	raw := rawFile(b, size)
	buf, at := make([]byte, bytes), int64(0)
	return func() float64 {
		n, began := 0, time.Now()
		for ; time.Since(began) < slice; n += perSync {
			for range perSync {
				if at+int64(bytes) > size {
					at = 0
				}
				if _, err := raw.WriteAt(buf, at); err != nil {
					b.Fatal(err)
				}
				at += int64(bytes)
			}
			if err := raw.Datasync(); err != nil {
				b.Fatal(err)
			}
		}
		return messages * float64(n) / time.Since(began).Seconds()
	}
}

// writers returns a function that appends messages with many writers, each of which waits for its own, for a slice of
// time, and returns how many a second they did.
func writers(many, size int) func(*testing.B, journal.Journal) float64 {
	body := bytes.Repeat([]byte("x"), size)
	return func(b *testing.B, j journal.Journal) float64 {
		var n atomic.Int64
		began := time.Now()
		var all sync.WaitGroup
		for range many {
			all.Go(func() {
				done := make(chan error, 1)
				answer := func(_ journal.Position, err error, _ int) { done <- err }
				records := []journal.Record{{Queue: 1, Life: journal.Lasting, Body: body}}
				for time.Since(began) < slice {
					err := j.Append(records, answer)
					if err == nil {
						err = <-done
					}
					if err != nil {
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
}

// pipeline returns a function that appends groups of messages from one goroutine without waiting for each, for a slice
// of time, and returns how many messages a second became durable.
func pipeline(perGroup, inFlight int) func(*testing.B, journal.Journal) float64 {
	records := make([]journal.Record, perGroup)
	for i := range records {
		records[i] = journal.Record{Queue: 1, Life: journal.Lasting, Body: bytes.Repeat([]byte("x"), 1000)}
	}
	return func(b *testing.B, j journal.Journal) float64 {
		free := make(chan struct{}, inFlight)
		answer := func(_ journal.Position, err error, _ int) {
			if err != nil {
				b.Error(err)
			}
			<-free
		}
		n, began := 0, time.Now()
		for ; time.Since(began) < slice; n += perGroup {
			free <- struct{}{}
			if err := j.Append(records, answer); err != nil {
				b.Fatal(err)
			}
		}
		for range inFlight { // until all are durable
			free <- struct{}{}
		}
		return float64(n) / time.Since(began).Seconds()
	}
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
		{"groups of one/1/next", small, 1, false}, {"groups of one/100/next", small, 100, false},
		{"groups of one/100/any", small, 100, true},
		{"one group/1/next", large, 1, false}, {"one group/100/next", large, 100, false},
		{"one group/100/any", large, 100, true},
	} {
		b.Run(bb.name, func(b *testing.B) {
			addrs := slices.Clone(bb.addrs)
			if bb.any {
				rand.New(rand.NewPCG(1, 2)).Shuffle(len(addrs),
					func(i, k int) { addrs[i], addrs[k] = addrs[k], addrs[i] })
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
		if err := j.Write([]journal.Record{{Head: make([]byte, 24), Body: make([]byte, 300)},
			{Head: make([]byte, 24)}}); err != nil {
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

// BenchmarkWatch is what a look at the folder costs, which is taken four times a second: at most 16 sealed segments are
// looked at each time.
func BenchmarkWatch(b *testing.B) {
	j, err := file.Open(b.Context(), file.Options{Dir: b.TempDir(), SegmentBytes: 16 << 10, Durability: journal.OS,
		Watch: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close() //nolint:errcheck // only looked at
	for n := range 1000 {
		if err := j.Write([]journal.Record{message(n, 2000)}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if err := file.Look(j); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(j.Stats().Segments), "segments")
}
