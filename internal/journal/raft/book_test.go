package raft

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestWhatAChangeSaysOfANodeIsKeptWhenTheEntryIsGone(t *testing.T) {
	c := newCluster(t, 3, func(uint64) Local { return &inMemory{disk: memory.New()} })
	c.live = liveOf
	c.startAll()
	clerk := ownNow(t, c)
	leads := clerk.replica()
	said := func(what string, is func(Book) bool) {
		t.Helper()
		waittest.Until(t, what, func() bool {
			for _, id := range c.peers {
				if r := c.node(id); r == nil || !is(r.Book()) {
					return false
				}
			}
			return true
		})
	}
	at := func(node, address string) func(Book) bool {
		return func(b Book) bool { got, noted := b.Nodes[node]; return noted && got == address }
	}
	for _, n := range []Note{{"d", "127.0.0.1:1"}, {"e", "127.0.0.1:2"}, {"e", ""}} {
		if err := leads.Change(t.Context(), Stay, 1, &n); err != nil {
			t.Fatal(err)
		}
		said("all know of "+n.Node, at(n.Node, n.Address))
	}
	if err := leads.Change(t.Context(), Leave, 9, nil); err != nil { // one that was never there
		t.Fatal(err)
	}
	said("all know who has left", func(b Book) bool { return slices.Equal(b.Gone, []uint64{9}) })
	if voters, learners := leads.Members(); len(voters) != 3 || len(learners) != 0 {
		t.Errorf("voters %v, learners %v", voters, learners)
	}
	want := leads.Book()
	l := &ledger{there: map[uint64]bool{}, maybe: map[uint64]bool{}}
	draw := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		l.work(clerk, 20, draw)
		if err := clerk.save(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if first, _ := leads.log.FirstIndex(); first <= want.At {
		t.Fatalf("the entries behind %d are there, which say it", first)
	}
	// A replica whose copy begins behind them.
	const id = 4
	if err := leads.Change(t.Context(), Learn, id, nil); err != nil {
		t.Fatal(err)
	}
	c.local[id] = &inMemory{disk: memory.New()}
	c.peers = append(c.peers, id)
	c.start(id)
	same := func(b Book) bool { return reflect.DeepEqual(b, want) }
	said("the new replica knows it, too", same)
	for _, id := range c.peers {
		c.stop(id)
	}
	c.startAll()
	c.leader()
	said("all know it after a start", same)
}

// Who waits for another leader gives votes by what he is told of the log.
func TestWhoWaitsIsToldWhereTheLogEndsNow(t *testing.T) {
	c := newCluster(t, 1, func(uint64) Local { return &inMemory{disk: memory.New()} })
	c.startAll()
	clerk := ownNow(t, c)
	leads := clerk.replica()
	before := leads.Status()
	l := &ledger{there: map[uint64]bool{}, maybe: map[uint64]bool{}}
	l.work(clerk, 20, rand.New(rand.NewPCG(1, 2)))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := leads.Wait(ctx, before); err == nil || s.Last <= before.Last || s.Applied <= before.Applied {
		t.Errorf("before %+v, after %+v, %v", before, s, err)
	}
}

func TestAHeaderWithoutABookIsRead(t *testing.T) {
	h := header{at: 7, term: 2, owner: 6, conf: &pb.ConfState{Voters: []uint64{1, 2, 3}}, state: [2]uint64{3, 1},
		older: point{4, 1, 32}, places: []place{{1, 64, 0, 3}}}
	const voters = 3
	b := h.encode()[8:]
	// As it was before there was a book: the first format, and nothing between learners and places.
	old := []byte{formatFirst, 0}
	for _, v := range []uint64{7, 2, 6, 3, 1, 4, 1, 32, voters, 1, 2, 3, 0, 1, 1, 64, 0, 3} {
		old = binary.AppendUvarint(old, v)
	}
	for _, b := range [][]byte{b, old} {
		got, err := decodeHeader(b)
		if err != nil || got.at != h.at || !slices.Equal(got.places, h.places) || len(got.conf.GetVoters()) != voters ||
			got.book.At != 0 || got.book.Nodes != nil || got.book.Gone != nil {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

func TestALogOfBeforeThereWasABookIsOpened(t *testing.T) {
	disk := memory.New()
	local, err := disk.Open(inMemoryOptions)
	if err != nil {
		t.Fatal(err)
	}
	old := []byte{formatFirst, 1} // of a new log of one replica
	for _, v := range []uint64{1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 0} {
		old = binary.AppendUvarint(old, v)
	}
	err = local.SaveCheckpoint(t.Context(), 0, func(w io.Writer) error {
		_, err := w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(old))), old...))
		return err
	})
	if err := errors.Join(err, local.Close()); err != nil {
		t.Fatal(err)
	}
	c := newCluster(t, 1, func(uint64) Local { return &inMemory{disk: disk} })
	c.live = liveOf
	c.startAll()
	clerk := ownNow(t, c)
	leads := clerk.replica()
	if err := leads.Change(t.Context(), Stay, 1, &Note{"d", "127.0.0.1:1"}); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "it has a book", func() bool { return leads.Book().Nodes["d"] != "" })
	l := &ledger{there: map[uint64]bool{}, maybe: map[uint64]bool{}}
	l.work(clerk, 20, rand.New(rand.NewPCG(1, 2)))
	if err := clerk.save(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.stop(1)
	if book := c.start(1).Book(); book.Nodes["d"] == "" {
		t.Errorf("after a start it is %+v", book)
	}
}
