package conformance

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/hikyaku/hikyaku/internal/freeport"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// clusterVar in the environment has each server of the families be three nodes of a cluster (make test-cluster).
const clusterVar = "HIKYAKU_CLIENTS_CLUSTER"

// clusterNodes are the names of the nodes. The programs know the doors of the first.
var clusterNodes = [...]string{"a", "b", "c"}

// ServeCluster is Serve, but of three nodes of a cluster. The server is a node that passes everything on: another one
// owns the shard.
func ServeCluster(t *testing.T, binary, dir, config, door string) *Server {
	t.Helper()
	addresses, err := freeport.Find(len(clusterNodes))
	if err != nil {
		t.Fatal(err)
	}
	peers := map[string]string{}
	for i, node := range clusterNodes {
		peers[node] = addresses[i]
	}
	var all []*Server
	for i, node := range clusterNodes {
		s := newServer(binary, filepath.Join(dir, node+".yaml"), door)
		s.change = func(t *testing.T, config string) string { return ofNode(t, config, dir, node, peers, i == 0) }
		t.Cleanup(func() { s.stop(t) })
		s.start(t, config)
		all = append(all, s)
	}
	var owner *Server
	waittest.Until(t, "a node owns the shard", func() bool {
		for _, s := range all {
			if s.owns.MatchString(s.log()) {
				owner = s
			}
		}
		return owner != nil
	})
	if owner == all[0] {
		out, err := exec.Command(binary, "cluster", "move", clusterNodes[1], "-c", all[1].path).CombinedOutput()
		if err != nil {
			t.Fatalf("cluster move: %v\n%s", err, out)
		}
		owner = all[1]
	}
	waittest.Until(t, "the owner's doors are open", func() bool { return owner.owns.MatchString(owner.log()) })
	return all[0]
}

// ofNode is a configuration as that of a node. The first has the addresses that it says.
func ofNode(t *testing.T, config, dir, node string, peers map[string]string, first bool) string {
	t.Helper()
	var c map[string]any
	if err := yaml.Unmarshal([]byte(config), &c); err != nil {
		t.Fatal(err)
	}
	delete(c, "shards") // a cluster has one
	c["data_dir"] = fmt.Sprint(c["data_dir"], "-", node)
	c["cluster"] = map[string]any{"name": "clients", "node": node, "listen": peers[node], "peers": peers,
		"secret": strings.Repeat("clients ", 4)}
	api, _ := c["api"].(map[string]any)
	for name, door := range api {
		settings, _ := door.(map[string]any)
		if first || settings == nil || settings["off"] != nil {
			continue
		}
		settings["listen"] = "127.0.0.1:0"
		if name == "mysql" {
			settings["socket"] = filepath.Join(dir, node+".sock")
		}
	}
	b, err := yaml.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
