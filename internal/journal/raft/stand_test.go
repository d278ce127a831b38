package raft

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// standing is three nodes whose time stands still but for what tick does, of which the first has led and is gone.
// asking is told who asks for votes.
func standing(t *testing.T, asking func(from uint64)) *cluster {
	c := newCluster(t, 3, func(uint64) Local { return &inMemory{disk: memory.New()} })
	c.tick = time.Hour
	c.startAll()
	c.node(1).Campaign()
	c.leader()
	c.block(func(m *pb.Message) bool {
		if m.GetType() == pb.MsgPreVote {
			asking(m.GetFrom())
		}
		return false
	})
	c.stop(1)
	return c
}

// turned waits until a node has done what there was to do, and a function besides.
func turned(r *Replica, f func()) {
	for _, f := range []func(){f, func() {}} { // what comes of the first is done before the second
		done := make(chan struct{})
		r.do(func() { f(); close(done) })
		<-done
	}
}

func TestWhoIsLeftStandsForElectionAfterLittleMoreThanTheShortestTime(t *testing.T) {
	for round := range 6 { // raft draws twenty ticks to forty: one round would not tell
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			var asked atomic.Uint64
			c := standing(t, func(from uint64) { asked.CompareAndSwap(0, from) })
			for _, id := range []uint64{2, 3} {
				turned(c.node(id), func() {})
			}
			tick := func() {
				for _, id := range []uint64{2, 3} {
					turned(c.node(id), c.node(id).tick)
				}
			}
			ticks := 0
			for ; asked.Load() == 0 && ticks < 100; ticks++ {
				tick()
			}
			if least := c.node(2).o.ElectionTicks; ticks < least || ticks > least+standPatience {
				t.Errorf("after %d ticks node %d stands, and %d are the shortest time", ticks, asked.Load(), least)
			}
			waittest.Until(t, "one of them leads", func() bool {
				tick()
				return c.node(2).Status().Ready || c.node(3).Status().Ready
			})
		})
	}
}
