package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/cluster"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// peersOf are the peers: of a configuration that names these.
func peersOf(at map[string]string, names ...string) string {
	var peers []string
	for _, n := range names {
		peers = append(peers, n+": \""+at[n]+"\"")
	}
	return strings.Join(peers, ", ")
}

func TestNodesAreTakenIntoAClusterAndOutOfItByCommands(t *testing.T) {
	dir, at, nodes := t.TempDir(), map[string]string{}, map[string]*clusterNode{}
	for _, name := range []string{"a", "b", "c", "d"} {
		at[name], nodes[name] = freeAddress(t), newClusterNode(t, dir, name)
	}
	for name, n := range nodes {
		if n.configure(t, peersOf(at, "a", "b", "c")); name != "d" {
			n.serve(t)
		}
	}
	t.Cleanup(func() { // all at once, so that none takes the shard of another
		for _, n := range nodes {
			if n.stop != nil {
				n.stop()
			}
		}
	})
	nodes["a"].keep(t, "hello")
	try := func(args ...string) string {
		t.Helper()
		out, err := inCluster(t, args...)
		if err != nil {
			out = explain(err)
		}
		return out
	}
	ask := func(wants string, args ...string) {
		t.Helper()
		if out := try(args...); !strings.Contains(out, wants) {
			t.Errorf("cluster %s says %q, want %q", strings.Join(args, " "), out, wants)
		}
	}
	a, d := nodes["a"].config, nodes["d"].config
	ask(`does not name node "d"`, "join", "d", "-c", a)
	nodes["d"].configure(t, peersOf(at, "a", "b", "c", "d"))
	for range 2 {
		ask("node d may take part: start it", "join", "d", "-c", d)
	}
	ask("not taken in yet", "status", "-c", a)
	nodes["d"].serve(t)
	waittest.Until(t, "node d has a vote", func() bool {
		return strings.Contains(try("join", "d", "-c", d), "has a vote")
	})
	nodes["d"].keep(t, "again") // it passes it on
	wants := "peers: in the configuration of node b has to name d at " + at["d"]
	ask(wants, "status", "-c", a)
	for _, name := range []string{"a", "b", "c"} {
		nodes[name].configure(t, peersOf(at, "a", "b", "c", "d"))
		nodes[name].hangup()
	}
	waittest.Until(t, "the configurations are read again", func() bool {
		return !strings.Contains(try("status", "-c", a), "in the configuration of")
	})
	// The new one owns the shard, the others pass on to it; and the one that owned it leaves.
	ask("node d owns the shard", "move", "d", "-c", a)
	nodes["a"].keep(t, "third")
	ask("node b owns the shard", "move", "b", "-c", a)
	ended := nodes["b"].ended
	ask("node b has left; nodes with a vote: 3, which go on without 1 of them", "leave", "b", "-c", a)
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "node b has left the cluster") {
		t.Errorf("node b ends: %v", err)
	}
	ended <- nil
	ask("has to name b no more", "status", "-c", a)
	ask("away, not in the cluster", "status", "-c", a)
	ask(`the cluster has no node "x"`, "leave", "x", "-c", a)
	if got := nodes["c"].take(t); len(got) != 3 {
		t.Errorf("%q", got)
	}
	// Its old disk.
	n := nodes["b"]
	n.configure(t, peersOf(at, "a", "b", "c", "d"))
	n.serve(t)
	if err := <-n.ended; err == nil || !strings.Contains(err.Error(), "remove "+filepath.Join(n.data, "cluster")) {
		t.Errorf("node b ends: %v", err)
	}
	n.ended <- nil
}

func TestAStatusTellsWhichConfigurationsNameOtherNodes(t *testing.T) {
	owner := cluster.Owner{Node: "a", Term: 2}
	group := []cluster.MemberView{{Node: "a", Address: "10.0.0.1:1", Part: cluster.Votes},
		{Node: "b", Address: "10.0.0.2:1", Part: cluster.Votes},
		{Node: "d", Address: "10.0.0.4:1", Part: cluster.Learns}}
	all := clusterStatus{Owner: owner, Nodes: []memberStatus{
		{Node: "a", Status: &cluster.Status{Node: "a", Owner: owner, Members: group,
			Peers: map[string]string{"a": "10.0.0.1:1", "b": "10.0.0.2:1", "c": "10.0.0.3:1"}}},
		{Node: "b", Status: &cluster.Status{Node: "b", Owner: owner,
			Peers: map[string]string{"a": "10.0.0.1:1", "b": "10.0.0.2:1", "d": "10.0.0.4:2"}}},
		{Node: "d", Status: &cluster.Status{Node: "d", Owner: owner,
			Peers: map[string]string{"a": "10.0.0.1:1", "b": "10.0.0.2:1", "d": "10.0.0.4:1"}}},
	}}
	want := []string{
		"peers: in the configuration of node a has to name d at 10.0.0.4:1, has to name c no more; SIGHUP has the node " +
			"read it again",
		"peers: in the configuration of node b has to name d at 10.0.0.4:1; SIGHUP has the node read it again",
	}
	if got := all.differences(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q", got)
	}
	for node, want := range map[string]string{"a": "", "c": ", not in the cluster", "d": ", no vote yet"} {
		if got := all.part(node); got != want {
			t.Errorf("node %s%s", node, got)
		}
	}
}
