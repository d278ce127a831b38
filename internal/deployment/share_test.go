package deployment_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/link"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// sharing is what a node has that shares its archives with others.
type sharing struct {
	dir    string
	shared *deployment.Shared
	end    func() // nobody reaches it any more
}

// share are nodes that share their archives, each with a folder of its own.
func share(t *testing.T, names ...string) (all []*sharing) {
	t.Helper()
	var links []*link.Listener
	var peers []link.Peer
	for _, name := range names {
		l, err := link.Listen(t.Context(), link.Options{Listen: "127.0.0.1:0", Cluster: "test", Node: name,
			Secret: strings.Repeat("secret", 6), Report: func(err error) { t.Log(name, err) }})
		if err != nil {
			t.Fatal(err)
		}
		links, peers = append(links, l), append(peers, link.Peer{Node: name, Address: l.Addr().String()})
	}
	for i, l := range links {
		var others []link.Peer
		others = append(append(others, peers[:i]...), peers[i+1:]...)
		n := &sharing{dir: t.TempDir()}
		n.shared = deployment.Share(deployment.SharedOptions{Link: l, Peers: func() []link.Peer { return others },
			Dir: filepath.Join(n.dir, "functions"), Report: func(err error) { t.Log(names[i], err) }})
		ended := false
		n.end = func() {
			if !ended {
				ended = true
				n.shared.Close()
				if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
			}
		}
		t.Cleanup(n.end)
		all = append(all, n)
	}
	return all
}

// on opens a Registry on a node, over the store in a folder.
func (n *sharing) on(t *testing.T, store string) (*deployment.Registry, func()) {
	t.Helper()
	r, _, end := open(t, store, func(c *deployment.Config) {
		c.Dir, c.Shared = filepath.Join(n.dir, "functions"), n.shared
	})
	return r, end
}

func TestAFunctionRunsOnEveryNodeWhereverItsCodeWasUploaded(t *testing.T) {
	nodes, store, code := share(t, "a", "b", "c"), t.TempDir(), says(t, "one")
	r, end := nodes[0].on(t, store)
	if _, err := r.Create(t.Context(), "f", python, code, nil); err != nil {
		t.Fatal(err)
	}
	have := 0
	for _, n := range nodes {
		if _, err := os.Stat(archiveOf(n.dir, code.Zip)); err == nil {
			have++
		}
	}
	if have < 2 {
		t.Error("the code was acknowledged on one node")
	}
	end()
	for _, n := range nodes[1:] {
		waittest.Until(t, "it is on every node", func() bool {
			_, err := os.Stat(archiveOf(n.dir, code.Zip))
			return err == nil
		})
	}
	nodes[0].end()
	for _, n := range nodes[1:] { // one that has lost it gets it from the other
		if err := os.Remove(archiveOf(n.dir, code.Zip)); err != nil {
			t.Fatal(err)
		}
		r, end := n.on(t, store)
		want(t, invoke(t, r, "f", ""), `"one"`)
		end()
	}
}

func TestCodeThatMostNodesDoNotTakeIsNotDeployed(t *testing.T) {
	nodes, store := share(t, "a", "b", "c"), t.TempDir()
	r, end := nodes[0].on(t, store)
	nodes[2].end()
	if _, err := r.Create(t.Context(), "f", python, says(t, "one"), nil); err != nil {
		t.Errorf("without one of three nodes: %v", err)
	}
	nodes[1].end()
	two := says(t, "two")
	if _, err := r.Update(t.Context(), "f", "", nil, &two); !errors.Is(err, queue.ErrUnavailable) {
		t.Errorf("without two of three nodes: %v", err)
	}
	want(t, invoke(t, r, "f", ""), `"one"`)
	end()
}

func TestCodeThatNoNodeHasIsNamedWithWhatTheOthersSay(t *testing.T) {
	nodes, store, code := share(t, "a", "b"), t.TempDir(), says(t, "one")
	r, end := nodes[0].on(t, store)
	if _, err := r.Create(t.Context(), "f", python, code, nil); err != nil {
		t.Fatal(err)
	}
	end()
	mine, others := archiveOf(nodes[1].dir, code.Zip), archiveOf(nodes[0].dir, code.Zip)
	if err := errors.Join(os.Remove(mine), os.WriteFile(others, []byte("something else"), 0o600)); err != nil {
		t.Fatal(err)
	}
	r, end = nodes[1].on(t, store)
	if got := invoke(t, r, "f", ""); !strings.Contains(got, mine) || !strings.Contains(got, "node a: ") ||
		!strings.Contains(got, "another checksum") {
		t.Errorf("it says %s", got)
	}
	end() // another instance may be asking yet
	if entries, err := os.ReadDir(filepath.Dir(mine)); err != nil || len(entries) > 0 {
		t.Errorf("something is left: %v, %v", entries, err)
	}
}
