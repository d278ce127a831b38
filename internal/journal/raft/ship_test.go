package raft

import (
	"context"
	"io"
	"runtime"
	"slices"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// saveLarge saves a checkpoint of so many bytes.
func saveLarge(t *testing.T, j journal.Journal, size int) {
	t.Helper()
	piece := make([]byte, 64<<10)
	err := j.SaveCheckpoint(t.Context(), j.End(), func(w io.Writer) (err error) {
		for range size / len(piece) {
			if err == nil {
				_, err = w.Write(piece)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestALargeCheckpointGoesToOtherNodesWithLittleMemory(t *testing.T) {
	c := newCluster(t, 3, func(uint64) Local { return inFiles{t.TempDir()} })
	c.live = func(context.Context, io.Reader, journal.Reader) ([]journal.Address, error) { return nil, nil }
	c.startAll()
	owner := ownNow(t, c)
	away := owner.replica().o.ID%3 + 1
	const size = 32 << 20
	goes := func(what string, do func()) {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		waittest.Until(t, "all have the checkpoint", func() bool {
			at := uint64(owner.j.Stats().Checkpoint)
			return !slices.ContainsFunc(c.peers, func(id uint64) bool {
				return c.node(id) != nil && c.node(id).log.checkpoint() < at
			})
		})
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > size/2 {
			t.Errorf("%s: %d bytes of memory were taken for a checkpoint of %d", what, n, size)
		}
	}
	save := func() {
		t.Helper()
		if _, err := owner.append(journal.Record{Life: journal.Passing}); err != nil {
			t.Fatal(err)
		}
		saveLarge(t, owner.j, size)
	}
	goes("to two nodes", save)
	c.stop(away)
	for range 2 {
		save()
	}
	goes("with the log, anew", func() { c.start(away) })
}
