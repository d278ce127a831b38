package raft

import (
	"io"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
)

func TestAnOverriddenEntryIsNotFoundInThePlaceOfTheOneThatIsGone(t *testing.T) {
	disk := memory.New()
	local, err := disk.Open(inMemoryOptions)
	if err != nil {
		t.Fatal(err)
	}
	at := map[[2]uint64]journal.Position{} // by index and term
	for _, e := range [][2]uint64{{2, 2}, {3, 2}, {4, 2}, {3, 3}, {4, 3}, {5, 3}, {6, 3}, {7, 3}, {8, 3}} {
		mark := mark{what: markEntry, index: e[0], term: e[1], group: true}
		if err := local.Write([]journal.Record{mark.record(nil), {Life: journal.Lasting}}); err != nil {
			t.Fatal(err)
		}
		at[e] = local.End()
	}
	if err := local.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := header{at: 8, term: 3, owner: 8, older: point{6, 3, at[[2]uint64{6, 3}]}, state: [2]uint64{3, 0},
		conf: &pb.ConfState{Voters: []uint64{1}}}
	err = local.SaveCheckpoint(t.Context(), local.End(), func(w io.Writer) error {
		_, err := w.Write(h.encode())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := local.Close(); err != nil {
		t.Fatal(err)
	}
	disk.Lose(func(g journal.Group) bool {
		return g.Position == at[[2]uint64{3, 3}] || g.Position == at[[2]uint64{4, 3}]
	})
	if local, err = disk.Open(inMemoryOptions); err != nil {
		t.Fatal(err)
	}
	defer local.Close() // it was only read
	l, _, _, err := load(t.Context(), &Options{}, local)
	if err != nil {
		t.Fatal(err)
	}
	for index := uint64(3); index <= 8; index++ {
		if term, err := l.Term(index); err == nil && term != 3 {
			t.Errorf("entry %d is one of term %d, which was overridden in term 3", index, term)
		}
	}
	if term, err := l.Term(8); err != nil || term != 3 {
		t.Errorf("entry 8 is of term %d: %v", term, err)
	}
}

func TestAnEntryBehindOneThatFoundNoRoomIsThereOnceBothWereGivenAgain(t *testing.T) {
	for _, c := range []struct {
		indices []uint64
		whole   bool
	}{{[]uint64{2, 3, 5, 4, 5}, true}, {[]uint64{3, 2, 3, 4, 5}, true}, {[]uint64{2, 3, 5}, false}} {
		disk := memory.New()
		local, err := disk.Open(inMemoryOptions)
		if err != nil {
			t.Fatal(err)
		}
		h := header{at: 1, term: 1, none: true, older: point{1, 1, 0}, conf: &pb.ConfState{Voters: []uint64{1}}}
		err = local.SaveCheckpoint(t.Context(), 0, func(w io.Writer) error {
			_, err := w.Write(h.encode())
			return err
		})
		for _, index := range c.indices {
			mark := mark{what: markEntry, index: index, term: 1, group: true}
			if err == nil {
				err = local.Write([]journal.Record{mark.record(nil), {Life: journal.Lasting}})
			}
		}
		if err == nil {
			err = local.Sync(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		l, _, _, err := load(t.Context(), &Options{}, local)
		if whole := err == nil && l.last == 5; whole != c.whole {
			t.Errorf("the log of %v is whole: %v: %v", c.indices, whole, err)
		}
		if err := local.Close(); err != nil {
			t.Error(err)
		}
	}
}
