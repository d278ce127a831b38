package raft

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/journaltest"
)

func own(r *Replica) (journal.Journal, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	j, _, err := r.Own(ctx)
	return j, err
}

// A node that stays up while its journal is closed and opened.
func TestContractOfOneNode(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journaltest.Harness {
		c, locals := inMemories(t, 1)
		c.startAll()
		return journaltest.Harness{
			Open:             func() (journal.Journal, error) { return own(c.leader()) },
			DamageCheckpoint: func() error { return locals[1].disk.DamageCheckpoint() },
		}
	})
}

// closing is a journal whose node ends with it.
type closing struct {
	journal.Journal
	end func()
}

func (c closing) Close() error {
	err := c.Journal.Close()
	c.end()
	return err
}

// A node that is started anew for each opening.
func TestContractOfANodeThatIsStartedAnew(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journaltest.Harness {
		dir, damaged := t.TempDir(), 0
		c := newCluster(t, 1, func(uint64) Local { return inFiles{dir} })
		return journaltest.Harness{
			Open: func() (journal.Journal, error) {
				if c.node(1) == nil {
					c.start(1)
				}
				j, err := own(c.node(1))
				if err != nil {
					return nil, err
				}
				return closing{j, func() { c.stop(1) }}, nil
			},
			DamageCheckpoint: func() error {
				damaged++
				return damageCheckpoint(filepath.Join(dir, "log"), damaged-1)
			},
		}
	})
}

func TestContractOfThreeNodes(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journaltest.Harness {
		c, locals := inMemories(t, 3)
		c.startAll()
		return journaltest.Harness{
			Open:             func() (journal.Journal, error) { return own(c.leader()) },
			DamageCheckpoint: func() error { return locals[c.leader().o.ID].disk.DamageCheckpoint() },
		}
	})
}

func TestContractWhenTheLogChangesHands(t *testing.T) {
	journaltest.RunOwners(t, func(t *testing.T) journaltest.Owned {
		c, _ := inMemories(t, 3)
		c.startAll()
		var last atomic.Uint64
		return journaltest.Owned{
			GivesTerms: true,
			Open: func(uint64) (journal.Journal, error) {
				leads := c.leader()
				if last.Swap(1) == 0 {
					return own(leads)
				}
				return takeOver(c, c.node(leads.o.ID%3+1))
			},
			Hang: func(j journal.Journal, hangs bool) {
				id, term := j.(*owner).r.o.ID, j.(*owner).term
				if !hangs {
					c.block(nil)
					return
				}
				c.block(func(m *pb.Message) bool { // of this term: until it has lost the log
					return m.GetFrom() == id && m.GetTerm() == term && m.GetType() == pb.MsgApp
				})
			},
		}
	})
}

// takeOver lets a node lead, as when most nodes have not heard of the leader for long.
func takeOver(c *cluster, next *Replica) (j journal.Journal, err error) {
	for range 100 {
		now := c.leader().Status()
		next.Step(&pb.Message{Type: pb.MsgTimeoutNow.Enum(), From: new(now.ID), To: new(next.o.ID),
			Term: new(now.Term)})
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		j, _, err = next.Own(ctx)
		cancel()
		if err == nil {
			return j, nil
		}
	}
	return nil, err
}

// damageCheckpoint alters a byte of the newest checkpoint in a folder of files that is not damaged yet.
func damageCheckpoint(dir string, nth int) error {
	names, err := filepath.Glob(filepath.Join(dir, "*checkpoint*"))
	if err != nil {
		return err
	}
	slices.Sort(names)
	name := names[len(names)-1-nth]
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	b[len(b)-1] ^= 1
	return os.WriteFile(name, b, 0o600)
}
