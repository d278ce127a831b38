package journey

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// BenchmarkUnsampled is what a message costs that is not remembered: four steps, of which the last is measured.
func BenchmarkUnsampled(b *testing.B) {
	s := New(Options{PerSecond: 1})
	now := time.Now().UnixNano()
	s.sampler.every.Store(1 << 40)
	s.sampler.second.Store(now / 1e9)
	var hops message.Hops
	hops[message.Accepted] = now
	at := Place{"default", "news"}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		id := message.NewID()
		for i := uint64(0); pb.Next(); i++ {
			binary.LittleEndian.PutUint64(id[8:], i*0x9e3779b97f4a7c15)
			s.Begin(&Note{ID: id, Kind: Accepted, Time: now, Place: at})
			s.Add(&Note{ID: id, Kind: Durable, Time: now, Place: at})
			s.Add(&Note{ID: id, Kind: Claimed, Time: now, Place: at, By: "http", Attempt: 1})
			s.End(&Note{ID: id, Kind: Done, Time: now, Place: at, From: at, Hops: &hops}, 0)
		}
	})
}

// BenchmarkSampled is likewise of a message that is remembered, in a store that is full.
func BenchmarkSampled(b *testing.B) {
	s := New(Options{PerSecond: 1 << 30})
	now := time.Now().UnixNano()
	at := Place{"default", "news"}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		id := message.NewID()
		for i := uint64(0); pb.Next(); i++ {
			binary.LittleEndian.PutUint64(id[8:], i*0x9e3779b97f4a7c15)
			s.Begin(&Note{ID: id, Kind: Accepted, Time: now, Place: at})
			s.Add(&Note{ID: id, Kind: Durable, Time: now, Place: at})
			s.Add(&Note{ID: id, Kind: Claimed, Time: now, Place: at, By: "http", Attempt: 1})
			s.End(&Note{ID: id, Kind: Done, Time: now, Place: at}, 0)
		}
	})
}
