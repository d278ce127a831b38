//go:build !no_cluster

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// endNode stops a node and waits until it has ended.
func endNode(t *testing.T, n *clusterNode) {
	t.Helper()
	n.stop()
	if err := <-n.ended; err != nil {
		t.Errorf("node %s: %v", n.name, err)
	}
	n.ended <- nil // for who started it
}

// waitsThere are the bodies that wait in the queue "jobs" of a data_dir of one shard.
func waitsThere(t *testing.T, data string) (bodies []string) {
	t.Helper()
	s, err := sharded(t, data, "1")
	if err != nil {
		t.Fatal(err)
	}
	ps, err := s.store.Peek(t.Context(), queueNamed("jobs"), queue.PeekRequest{Max: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ps {
		bodies = append(bodies, string(p.Message.Body))
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	return bodies
}

func TestAClusterBecomesAServerAlone(t *testing.T) {
	nodes := startNodes(t, "a", "b", "c")
	var want, behind, whole []string
	put := func(n *clusterNode, from, to int) {
		for i := from; i < to; i++ {
			want = append(want, fmt.Sprint("job ", i))
			n.keep(t, want[len(want)-1])
		}
	}
	dir := func(n *clusterNode) string { return filepath.Join(filepath.Dir(n.config), n.name) }
	put(nodes["a"], 0, 20)
	endNode(t, nodes["c"])
	put(nodes["b"], 20, 40)
	endNode(t, nodes["a"])
	endNode(t, nodes["b"])
	behind, whole = []string{dir(nodes["c"])}, []string{dir(nodes["c"]), clusterDir(dir(nodes["b"]))}

	_, f := aloneConfig(t, "")
	if err := copyOutOfCluster(t.Context(), behind, f, false, io.Discard); err == nil ||
		!strings.Contains(explain(err), "1 of the 3 nodes") || !strings.Contains(explain(err), "--accept-loss") {
		t.Errorf("of a node that lacks something it says %v", err)
	}
	if names, err := os.ReadDir(f.DataDir); err != nil || len(names) > 1 {
		t.Errorf("something was made: %v, %v", names, err)
	}
	if err := os.MkdirAll(functionsDir(whole[0]), 0o700); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := copyOutOfCluster(t.Context(), whole, f, false, &out); err != nil {
		t.Fatal(err)
	}
	for _, say := range []string{"the log of " + whole[1], "copy " + functionsDir(whole[0]) + " into " +
		f.DataDir} {
		if !strings.Contains(out.String(), say) {
			t.Errorf("it says %s", out.String())
		}
	}
	if got := waitsThere(t, f.DataDir); !slices.Equal(got, want) {
		t.Errorf("there are %q", got)
	}
	if err := copyOutOfCluster(t.Context(), whole, f, false, io.Discard); err == nil ||
		!strings.Contains(explain(err), "is there already") {
		t.Errorf("a journal is put in the place of another: %v", err)
	}

	// What is left when the others are lost is better than nothing.
	_, f = aloneConfig(t, "")
	out.Reset()
	if err := copyOutOfCluster(t.Context(), behind, f, true, &out); err != nil {
		t.Fatal(err)
	}
	if got := waitsThere(t, f.DataDir); len(got) < 20 || !slices.Equal(got, want[:len(got)]) {
		t.Errorf("of a node that lacks something there are %q", got)
	}
	if !strings.Contains(out.String(), "1 of the 3 nodes") {
		t.Errorf("it says %s", out.String())
	}

	// The nodes' logs are what they were.
	for _, n := range nodes {
		if err := checkJournal(t.Context(), dir(n), io.Discard); err != nil {
			t.Errorf("node %s: %v", n.name, err)
		}
	}
}

func TestAJournalThatIsMadeWhileOneIsCopiedStays(t *testing.T) {
	data := filledFolder(t, 3, 100)
	_, f := aloneConfig(t, "")
	var started stores
	target := copyTarget{data: f.DataDir, place: journalDir(f.DataDir)}
	target.open = func(ctx context.Context, dir string) (journal.Journal, error) {
		if started.store == nil { // a server is started meanwhile
			var err error
			if started, err = sharded(t, f.DataDir, "1"); err != nil {
				return nil, err
			}
		}
		return file.Open(ctx, file.Options{Dir: dir})
	}
	_, err := target.copy(t.Context(), func() (journal.Journal, error) { return openOnly(t.Context(), data) })
	if err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("it answers %v", err)
	}
	if err := started.close(); err != nil {
		t.Error(err)
	}
	if names, err := filepath.Glob(filepath.Join(f.DataDir, "*copying*")); len(names) > 0 {
		t.Errorf("%v are left, %v", names, err)
	}
	hasAll(t, f.DataDir, "1", 0, 0)
	hasAll(t, data, "1", 3, 100)
}
