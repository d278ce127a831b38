package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// fullLog cannot be opened as long as the disk is full.
type fullLog struct {
	journal.Journal
	full *atomic.Bool
}

func (j *fullLog) LoadCheckpoint(ctx context.Context) (journal.Position, io.ReadCloser, []error, error) {
	if j.full.Load() {
		return 0, nil, nil, fmt.Errorf("write something: %w", syscall.ENOSPC)
	}
	return j.Journal.LoadCheckpoint(ctx)
}

// fullPart is a part of a shared log on a node whose disk may be full.
type fullPart struct {
	*part
	full *atomic.Bool
}

func (p *fullPart) Own(ctx context.Context) (journal.Journal, uint64, error) {
	j, term, err := p.part.Own(ctx)
	return &fullLog{Journal: j, full: p.full}, term, err
}

func TestANodeWithoutRoomGivesTheShardAwayAndLives(t *testing.T) {
	var full atomic.Bool
	full.Store(true)
	log, nodes := threeNodesOver(t, func(log *sharedLog, f *config.File) nodeReplica {
		p := &part{sharedLog: log, node: f.Cluster.Node}
		if p.node == "a" {
			return &fullPart{p, &full}
		}
		return p
	})
	owner := func() string { return (&part{sharedLog: log}).Owner().Node }
	log.move("a")
	waittest.Until(t, "another node owns the shard", func() bool { return owner() != "a" })
	nodes["a"].keep(t, "by way of a")
	full.Store(false)
	log.move("a")
	nodes["a"].keep(t, "at a")
	if got := nodes["b"].take(t); owner() != "a" || len(got) != 2 {
		t.Errorf("node %s owns the shard, and %q is there", owner(), got)
	}
	if status, _, err := nodes["a"].ask(t, http.MethodGet, "/livez", ""); err != nil || status != http.StatusOK {
		t.Errorf("/livez of a node that had no room: %d %v", status, err)
	}
}
