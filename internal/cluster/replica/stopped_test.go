package replica_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hikyaku/hikyaku/internal/cluster/replica"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/raft"
)

// stopped opens the log in the folders of nodes.
func stopped(t *testing.T, nodes ...*node) *replica.Stopped {
	t.Helper()
	var dirs []string
	for _, n := range nodes {
		dirs = append(dirs, filepath.Join(n.dir, "cluster"))
	}
	s, err := replica.OpenStopped(t.Context(), dirs)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheLogOfMostStoppedNodesIsWhole(t *testing.T) {
	all := three(t)
	startAll(t, all)
	owner, j := ownerOf(t, all)
	for n := range uint64(20) {
		put(t, j, n+1)
	}
	behind := all[0]
	if behind == owner {
		behind = all[1]
	}
	behind.stop(t)
	put(t, j, 21)
	for _, n := range all {
		n.stop(t)
	}
	for _, n := range all {
		s := stopped(t, n)
		var few *raft.FewError
		if !errors.As(s.Few, &few) || few.Given != 1 || few.Voters != 3 {
			t.Errorf("of node %s alone it says %v", n.name, s.Few)
		}
		if err := n.start(t); !errors.Is(err, journal.ErrLocked) {
			t.Errorf("while its log is read node %s is started: %v", n.name, err)
			n.stop(t)
		}
		closeLog(t, s)
		if n == behind {
			continue
		}
		// It took another node's log anew, and was ended before that was in its place.
		dir := filepath.Join(n.dir, "cluster")
		if err := os.Rename(filepath.Join(dir, "log"), filepath.Join(dir, "ready")); err != nil {
			t.Fatal(err)
		}
		s = stopped(t, behind, n)
		if s.Few != nil || s.Dir != dir {
			t.Errorf("%v, from %s", s.Few, s.Dir)
		}
		mustHave(t, s, 21)
		closeLog(t, s)
	}
	startAll(t, all)
	_, j = ownerOf(t, all)
	mustHave(t, j, 21)
}

func TestAFolderWithoutALogIsNotRead(t *testing.T) {
	all := withLog(t)
	closeLog(t, stopped(t, all[0]))
	if err := os.Rename(filepath.Join(all[0].dir, "cluster", "log"), filepath.Join(all[0].dir, "log")); err != nil {
		t.Fatal(err)
	}
	for _, n := range all[:2] {
		dir := filepath.Join(n.dir, "cluster")
		if _, err := replica.OpenStopped(t.Context(), []string{dir}); !errors.Is(err, raft.ErrNoLog) {
			t.Errorf("of %s it says %v", dir, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "log")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("something was made in %s: %v", dir, err)
		}
	}
}
