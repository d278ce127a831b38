package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
