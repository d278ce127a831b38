package raft

import (
	"context"
	"math/rand/v2"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// cutAtSwap is a local journal that keeps what a power cut leaves right after another log took its place.
type cutAtSwap struct {
	*inMemory
	left chan *memory.Disk
}

func (l cutAtSwap) Fresh(ctx context.Context) (journal.Journal, Replace, error) {
	j, replace, err := l.inMemory.Fresh(ctx)
	return j, func(ctx context.Context) (journal.Journal, error) {
		j, err := replace(ctx)
		l.left <- l.disk.After(true)
		return j, err
	}, err
}

func TestAVoteIsRememberedWhenThePowerFailsRightAfterTheLogCameAnew(t *testing.T) {
	const away = 1
	left := make(chan *memory.Disk, 10)
	c := newCluster(t, 3, func(id uint64) Local {
		l := &inMemory{disk: memory.New()}
		if id == away {
			return cutAtSwap{l, left}
		}
		return l
	})
	c.live = liveOf
	// The first node votes for the second: the third is not there, and the first does not stand.
	c.block(func(m *pb.Message) bool {
		return m.GetFrom() == 3 || m.GetTo() == 3 || m.GetFrom() == away && m.GetType() == pb.MsgPreVote
	})
	c.startAll()
	clerk := ownNow(t, c)
	term := clerk.j.(*owner).term
	l := &ledger{there: map[uint64]bool{}, maybe: map[uint64]bool{}}
	draw := rand.New(rand.NewPCG(1, 2))
	l.work(clerk, 10, draw)
	c.block(nil)
	waittest.Until(t, "the third node has the log", func() bool {
		return c.node(3).Status().Applied >= uint64(clerk.j.End())
	})
	c.stop(away)
	for range 4 {
		l.work(clerk, 20, draw)
		if err := clerk.save(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	c.start(away)
	local, err := (<-left).Open(inMemoryOptions)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close() // it was only read
	found, _, _, err := load(t.Context(), &Options{Live: liveOf}, local)
	if err != nil {
		t.Fatal(err)
	}
	if want := [2]uint64{term, 2}; found.state != want {
		t.Errorf("the node has voted for %d in term %d and remembers %v", want[1], want[0], found.state)
	}
}

func TestANewReplicaIsGivenALogThatBeginsBeforeItWasTakenIn(t *testing.T) {
	c, _ := inMemories(t, 3)
	c.live = liveOf
	c.startAll()
	clerk := ownNow(t, c)
	l := &ledger{there: map[uint64]bool{}, maybe: map[uint64]bool{}}
	draw := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		l.work(clerk, 20, draw)
		if err := clerk.save(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// No checkpoint is saved from here on.
	const id = 4
	leads := clerk.replica()
	if err := leads.Change(t.Context(), Learn, id, nil); err != nil {
		t.Fatal(err)
	}
	c.local[id] = &inMemory{disk: memory.New()}
	r := c.start(id)
	defer c.stop(id)
	waittest.Until(t, "the new replica has the log", func() bool {
		return r.Status().Applied >= leads.Status().Applied
	})
	if err := leads.Change(t.Context(), Vote, id, nil); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "all know who has the log", func() bool {
		voters, learners := r.Members()
		return len(voters) == 4 && len(learners) == 0
	})
}
