package replica_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/cluster/replica"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func (n *node) alone(t *testing.T) journal.Journal {
	t.Helper()
	j, err := replica.OpenAlone(t.Context(), n.name, filepath.Join(n.dir, "cluster"),
		file.Options{SegmentBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func closeLog(t *testing.T, j journal.Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// withLog are three nodes, of which the first has a log of 20 messages that was made without the others.
func withLog(t *testing.T) []*node {
	t.Helper()
	all := three(t)
	j := all[0].alone(t)
	for n := range uint64(20) {
		put(t, j, n+1)
	}
	closeLog(t, j)
	j = all[0].alone(t)
	mustHave(t, j, 20)
	closeLog(t, j)
	return all
}

// moveTo has a node own the log, which it cannot without a vote.
func moveTo(t *testing.T, all []*node, to *node) journal.Journal {
	t.Helper()
	waittest.Until(t, "node "+to.name+" owns the log", func() bool {
		for _, n := range all {
			if n.r != nil && n.r.Owner().Node == n.name && n != to {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				_ = n.r.Transfer(ctx, to.name) // the next look tells
				cancel()
			}
		}
		return to.r.Owner().Node == to.name
	})
	_, j := ownerOf(t, []*node{to})
	return j
}

func TestALogOfOneNodeIsGivenToTheOthersWhichHaveNone(t *testing.T) {
	all := withLog(t)
	startAll(t, all)
	var j journal.Journal
	for i, n := range []*node{all[1], all[2], all[0], all[1]} {
		j = moveTo(t, all, n)
		mustHave(t, j, 20+uint64(i))
		put(t, j, 21+uint64(i))
	}
	all[0].stop(t) // two suffice
	put(t, j, 25)
	mustHave(t, j, 25)
}

func TestALogOfSeveralNodesIsNotOpenedAlone(t *testing.T) {
	all := withLog(t)
	startAll(t, all)
	moveTo(t, all, all[1])
	for _, n := range all {
		n.stop(t)
	}
	for _, n := range all[:2] {
		if j, err := replica.OpenAlone(t.Context(), n.name, filepath.Join(n.dir, "cluster"),
			file.Options{}); err == nil {
			t.Errorf("node %s opens it", n.name)
			closeLog(t, j)
		}
	}
}
