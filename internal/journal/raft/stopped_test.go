package raft

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// stopped are the copies of replicas that have ended, by their id.
func stopped(t *testing.T, locals map[uint64]*inMemory) map[uint64]*Stopped {
	t.Helper()
	all := map[uint64]*Stopped{}
	for id, l := range locals {
		local, err := l.disk.Open(inMemoryOptions)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = local.Close() })
		if all[id], err = ReadStopped(t.Context(), id, local); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// newest is which copy of some has everything. few tells whether they are of too few replicas.
func newest(t *testing.T, all map[uint64]*Stopped, ids ...uint64) (best *Stopped, few bool) {
	t.Helper()
	var some []*Stopped
	for _, id := range ids {
		some = append(some, all[id])
	}
	best, err := Newest(t.Context(), some)
	var e *FewError
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("of %v: %v", ids, err)
	}
	return best, e != nil
}

func TestOfStoppedCopiesOfMostNodesOneHasAllThatWasAnswered(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			draw := rand.New(rand.NewPCG(seed, 2))
			c, locals := inMemories(t, 3)
			c.live = liveOf
			c.startAll()
			l := &ledger{there: map[uint64]bool{}, maybe: map[uint64]bool{}}
			for range 8 {
				life(t, c, locals, l, draw)
			}
			l.work(ownNow(t, c), 50, draw)
			for _, id := range c.peers {
				cutPower(c, locals, id)
			}
			all := stopped(t, locals)
			for _, ids := range [][]uint64{{1, 2}, {1, 3}, {2, 3}, {1, 2, 3}} {
				best, few := newest(t, all, ids...)
				if few {
					t.Errorf("%v are too few", ids)
				}
				j := best.Journal()
				got, err := foldClerk(t.Context(), j)
				if err != nil {
					t.Fatal(err)
				}
				// What is unknown may be in some copies only.
				known := &ledger{there: maps.Clone(l.there), maybe: maps.Clone(l.maybe)}
				if err := known.compare(got); err != nil {
					t.Errorf("of %v: %v", ids, err)
				}
				if _, err := got.append(journal.Record{}); !errors.Is(err, journal.ErrLost) {
					t.Errorf("it takes a group: %v", err)
				}
				if err := j.Close(); err != nil {
					t.Error(err)
				}
			}
			for _, id := range c.peers {
				if _, few := newest(t, all, id, id); !few {
					t.Errorf("node %d alone is enough", id)
				}
			}
		})
	}
}

func TestMostNodesAreThoseWhoHaveTheLogAtItsEnd(t *testing.T) {
	c, locals := inMemories(t, 3)
	c.live = liveOf
	c.startAll()
	owner := ownNow(t, c)
	leads := owner.replica()
	l := &ledger{there: map[uint64]bool{}, maybe: map[uint64]bool{}}
	draw := rand.New(rand.NewPCG(1, 2))
	l.work(owner, 30, draw)
	if err := owner.save(t.Context()); err != nil {
		t.Fatal(err)
	}
	lost := leads.o.ID%3 + 1
	other := 6 - lost - leads.o.ID
	c.stop(lost)
	change := func(step Step, id uint64, voters, learners int) {
		t.Helper()
		if err := leads.Change(t.Context(), step, id, nil); err != nil {
			t.Fatal(err)
		}
		waittest.Until(t, "who has the log is known", func() bool {
			for _, id := range c.peers {
				if r := c.node(id); r != nil && id != lost {
					if v, l := r.Members(); len(v) != voters || len(l) != learners {
						return false
					}
				}
			}
			return true
		})
	}
	const fresh = 4
	change(Leave, lost, 2, 0)
	change(Learn, fresh, 2, 1)
	locals[fresh] = &inMemory{disk: memory.New()}
	c.local[fresh] = locals[fresh]
	c.peers = append(c.peers, fresh)
	c.start(fresh)
	change(Vote, fresh, 3, 0)
	if err := owner.put(1000); err != nil { // no checkpoint is saved from here on
		t.Fatal(err)
	}
	for _, id := range c.peers {
		c.stop(id)
	}
	all := stopped(t, locals)
	for _, ids := range [][]uint64{{leads.o.ID, fresh}, {leads.o.ID, other}, {other, fresh}} {
		if _, few := newest(t, all, ids...); few {
			t.Errorf("%v are too few, and node %d is no more", ids, lost)
		}
	}
	for _, id := range []uint64{leads.o.ID, other, fresh} {
		if _, few := newest(t, all, lost, id); !few {
			t.Errorf("node %d, which is no more, is counted", lost)
		}
	}
}

func TestANodeThatMayHaveLeftTheLogIsNotCounted(t *testing.T) {
	c, locals := inMemories(t, 3)
	c.startAll()
	owner := ownNow(t, c)
	leads := owner.replica()
	if err := owner.put(1); err != nil {
		t.Fatal(err)
	}
	next, last := leads.o.ID%3+1, (leads.o.ID+1)%3+1
	c.block(func(m *pb.Message) bool { return m.GetFrom() == leads.o.ID }) // nobody hears of it
	before := leads.Status().Last
	if err := leads.Change(t.Context(), Leave, last, nil); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the node has the change", func() bool { return leads.Status().Last > before })
	for _, id := range c.peers {
		c.stop(id)
	}
	all := stopped(t, locals)
	if _, few := newest(t, all, leads.o.ID, next); few {
		t.Error("most nodes after that are too few")
	}
	if _, few := newest(t, all, leads.o.ID, last); !few {
		t.Error("a node that may be no more is counted")
	}
	if _, few := newest(t, all, next, last); few {
		t.Error("most nodes that have not heard of it are too few")
	}
}

func TestCopiesOfDifferentLogsAreRefused(t *testing.T) {
	var both []*Stopped
	for id := range uint64(2) {
		c, locals := inMemories(t, 1)
		c.start(1)
		for range 3 * (1 - id) { // a later term
			c.stop(1)
			c.start(1)
			c.leader()
		}
		owner := ownNow(t, c)
		l := &ledger{there: map[uint64]bool{}, maybe: map[uint64]bool{}}
		l.work(owner, int(2+50*id), rand.New(rand.NewPCG(1, 2)))
		if err := owner.save(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.stop(1)
		both = append(both, stopped(t, locals)[1])
	}
	if _, err := Newest(t.Context(), both); !errors.Is(err, errOther) {
		t.Errorf("it answers %v", err)
	}
}

func TestALocalJournalWithoutALogIsNone(t *testing.T) {
	local, err := memory.New().Open(inMemoryOptions)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadStopped(t.Context(), 1, local); !errors.Is(err, ErrNoLog) {
		t.Errorf("it answers %v", err)
	}
	if _, _, _, err := local.LoadCheckpoint(t.Context()); !errors.Is(err, journal.ErrNoCheckpoint) {
		t.Errorf("something was written: %v", err)
	}
	if err := local.Close(); err != nil {
		t.Error(err)
	}
}
