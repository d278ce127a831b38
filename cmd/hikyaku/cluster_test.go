package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/cluster"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// inCluster runs `hikyaku cluster` in this process.
func inCluster(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	cmd := newCluster()
	var b strings.Builder
	cmd.SetOut(&b)
	cmd.SetErr(&b)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(t.Context())
	return b.String(), err
}

func TestTheShardIsMovedByCommands(t *testing.T) {
	log, nodes := threeNodes(t)
	ask := func(wants string, args ...string) {
		t.Helper()
		out, err := inCluster(t, append(args, "-c", nodes["a"].config)...)
		if err != nil {
			out = explain(err)
		}
		if !strings.Contains(out, wants) {
			t.Errorf("cluster %s says %q, want %q", strings.Join(args, " "), out, wants)
		}
	}
	ask("nobody owns the shard", "status")
	ask("hikyaku cluster status tells who is away", "move", "b")
	log.move("b")
	ask("node b owns the shard, for ", "status")
	ask("node b owns the shard already", "move", "b")
	ask("node c owns the shard, in term 2", "move", "c")
	nodes["a"].keep(t, "hello")
	ask("node c does not take the shard any more", "drain", "c")
	ask("follows, drained", "status")
	nodes["a"].keep(t, "hello")
	ask("node c may own the shard again", "fill", "c")
	ask(`the cluster has no node "d"`, "move", "d")

	nodes["c"].stop()
	if err := <-nodes["c"].ended; err != nil {
		t.Error(err)
	}
	nodes["c"].ended <- nil
	ask("connect to node c at ", "status")
	out, err := inCluster(t, "status", "--json", "-c", nodes["a"].config)
	var all clusterStatus
	if err == nil {
		err = json.Unmarshal([]byte(out), &all)
	}
	if err != nil || len(all.Nodes) != 3 || all.Owner.Term != 3 || all.Nodes[0].Status == nil ||
		all.Nodes[2].Away == "" {
		t.Errorf("%s, %v", out, err)
	}
	log.astray = "b"
	ask("node a has given the shard away, and not to node c: b has it", "move", "c")
}

// An owner that stops gives the shard away before it is gone.
func TestAnOwnerThatStopsGivesTheShardAway(t *testing.T) {
	log, nodes := threeNodes(t)
	log.move("a")
	nodes["b"].keep(t, "hello")
	nodes["a"].stop()
	if err := <-nodes["a"].ended; err != nil {
		t.Error(err)
	}
	nodes["a"].ended <- nil
	waittest.Until(t, "it is taken elsewhere", func() bool { return len(nodes["b"].take(t)) == 1 })
}

func TestANodeThatStopsWhileItOpensTheShardGivesItAway(t *testing.T) {
	log, nodes := threeNodes(t)
	log.reading = make(chan struct{})
	log.move("a")
	<-log.reading
	log.reading = nil
	nodes["a"].stop()
	if err := <-nodes["a"].ended; err != nil {
		t.Errorf("it was told to stop, which is no mistake: %v", err)
	}
	nodes["a"].ended <- nil
	if owner := (&part{sharedLog: log, node: "b"}).Owner().Node; owner != "b" {
		t.Errorf("node %q owns the shard", owner)
	}
}

func TestClusterCommandsSayWhatTheyNeed(t *testing.T) {
	alone := filepath.Join(t.TempDir(), "alone.yaml")
	if err := os.WriteFile(alone, []byte("data_dir: data\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"which cluster?":       {"status"},
		"with cluster: peers:": {"status", "-c", alone},
	} {
		if _, err := inCluster(t, args...); err == nil || !strings.Contains(explain(err), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}

func TestTheStatusOfNodesThatDoNotAnswerClaimsNothing(t *testing.T) {
	all := clusterStatus{Nodes: []memberStatus{{Node: "a", Away: "connection refused"}}}
	var b strings.Builder
	if err := all.write(&b, time.Now()); err != nil || !strings.Contains(b.String(), "no node answers") {
		t.Errorf("%s %v", b.String(), err)
	}
}

// The table is that of docs/cluster.md.
func TestTheStatusOfAClusterIsATable(t *testing.T) {
	now := time.Now()
	owner := cluster.Owner{Node: "b", Term: 7, Since: now.Add(-90 * time.Minute)}
	view := func(node string, alive bool, lag uint64, known bool) cluster.MemberView {
		return cluster.MemberView{Node: node, Alive: alive, Lag: lag, Known: known}
	}
	young := owner // as a node knows it that was started a moment ago
	young.Since = now.Add(-time.Second)
	all := clusterStatus{Nodes: []memberStatus{
		{Node: "a", Address: "10.0.0.1:6222", Status: &cluster.Status{Node: "a", Owner: young,
			Members: []cluster.MemberView{view("b", true, 0, false), view("c", true, 0, false)}}},
		{Node: "b", Address: "10.0.0.2:6222", Status: &cluster.Status{Node: "b", Owner: owner,
			Members: []cluster.MemberView{view("a", true, 0, true), view("b", true, 0, true),
				view("c", false, 214, true)}}},
		{Node: "c", Address: "10.0.0.3:6222", Away: "connect to node c at 10.0.0.3:6222: connection refused"},
	}}
	all.Owner = ownerOf(all.Nodes)
	var b strings.Builder
	if err := all.write(&b, now); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/cluster.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```text\n"+b.String()+"```") {
		t.Errorf("docs/cluster.md does not show\n%s", b.String())
	}
}

func TestTheStatusOfAClusterSaysWhoseDiskTakesNothing(t *testing.T) {
	all := clusterStatus{Nodes: []memberStatus{{Node: "a", Address: "10.0.0.1:6222", Status: &cluster.Status{Node: "a",
		Owner: cluster.Owner{Node: "b", Term: 7}, Disk: "no room left"}}}}
	var b strings.Builder
	if err := all.write(&b, time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"follows, waits for its disk", "the disk of node a: no room left"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s does not say %q", b.String(), want)
		}
	}
}
