package raft

import (
	"context"
	"sync/atomic"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
)

// counting is a local journal that counts the bytes that are read from it.
type counting struct {
	journal.Journal
	read *atomic.Int64
}

func (c counting) Read(ctx context.Context, addrs []journal.Address, each func(int, journal.Record, error)) error {
	return c.Journal.Read(ctx, addrs, func(i int, r journal.Record, err error) {
		c.read.Add(int64(r.Size()))
		each(i, r, err)
	})
}

type countingLocal struct {
	*inMemory
	read *atomic.Int64
}

func (l countingLocal) Open(ctx context.Context) (journal.Journal, error) {
	j, err := l.inMemory.Open(ctx)
	return counting{j, l.read}, err
}

func TestNoMoreIsReadOfTheLogAtOnceThanAMessageCarries(t *testing.T) {
	var read atomic.Int64
	r, err := Start(t.Context(), Options{ID: 1, Peers: []uint64{1}, Send: func([]*pb.Message) {}, CacheBytes: 1,
		Local: countingLocal{&inMemory{disk: memory.New()}, &read}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() // nothing is kept
	j, _, err := r.Own(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const groups, size = 40, 500 << 10
	for n := range uint64(groups) {
		err := j.Append([]journal.Record{{Life: journal.Lasting, Sequence: n, Body: make([]byte, size)}},
			func(journal.Position, error, int) {})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	read.Store(0)
	last := uint64(j.End())
	entries, err := r.log.Entries(last-groups+1, last, messageBytes)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 {
		t.Errorf("a message carries %d entries of %d bytes", len(entries), size)
	}
	if most := int64(messageBytes + size); read.Load() > most {
		t.Errorf("%d bytes were read, more than %d", read.Load(), most)
	}
}
