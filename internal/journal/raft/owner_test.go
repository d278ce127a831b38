package raft

import (
	"errors"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestWhatNobodyWaitsForIsBoundedWhileNoOtherNodeHasIt(t *testing.T) {
	c := newCluster(t, 3, func(uint64) Local { return &inMemory{disk: memory.New()} })
	c.most = 1 << 20
	c.startAll()
	clerk := ownNow(t, c)
	r := clerk.replica()
	amount := func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.inbox.amount
	}
	c.block(func(m *pb.Message) bool { return m.GetFrom() == r.o.ID && m.GetType() == pb.MsgApp })
	large := []journal.Record{{Life: journal.Passing, Head: make([]byte, 100<<10)}}
	var err error
	for n := 0; err == nil && n < 4*c.most/len(large[0].Head); n++ {
		err = clerk.j.Write(large)
	}
	if !errors.Is(err, journal.ErrRefused) {
		t.Fatalf("%d bytes are kept for the other nodes: %v", amount(), err)
	}
	// Small ones take memory, too.
	for err = nil; err == nil; {
		if err = clerk.j.Write([]journal.Record{{Life: journal.Passing}}); amount() > 2*c.most {
			t.Fatalf("%d bytes are kept for the other nodes", amount())
		}
	}
	if !errors.Is(err, journal.ErrRefused) {
		t.Fatal(err)
	}
	appended := make(chan error, 1)
	go func() { appended <- clerk.put(1) }()
	c.block(nil)
	if err := <-appended; err != nil {
		t.Errorf("an append that has waited for room: %v", err)
	}
	waittest.Until(t, "the others have all of it", func() bool { return amount() == 0 })
	if err := errors.Join(clerk.j.Write(large), clerk.j.Sync(t.Context())); err != nil {
		t.Error(err)
	}
}
