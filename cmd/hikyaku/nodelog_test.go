//go:build linux

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A node's journal is its copy of the cluster's log: commands over a data_dir find it there, and do nothing to it that
// the other nodes do not know of.
func TestCommandsOverTheDataOfANodeFindItsLog(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	s := serveHere(t, dir, onlyHTTP+"cluster: { node: a, peers: { a: \""+freeAddress(t)+"\" }, secret: "+
		strings.Repeat("secret", 6)+" }\n")
	if r := s.do(t, "hello", "publish", "news"); r.code != exitOK {
		t.Fatalf("%+v", r)
	}
	for _, named := range []string{data, filepath.Join(data, "cluster"), filepath.Join(data, "cluster", "log")} {
		if r := hikyaku(t, "", nil, "journal", "check", named); r.code != exitOK ||
			!strings.Contains(r.stdout, filepath.Join(data, "cluster", "log")) ||
			!strings.Contains(r.stdout, "in use") {
			t.Errorf("journal check %s: %+v", named, r)
		}
		if r := hikyaku(t, "", nil, "journal", "repair", "--accept-loss", named); r.code != exitFailed ||
			!strings.Contains(r.stderr, "is not repaired") || !strings.Contains(r.stderr, "from the other nodes") {
			t.Errorf("journal repair %s: %+v", named, r)
		}
	}
	if r := hikyaku(t, "", nil, "journal", "split", data, "--shards", "2"); r.code != exitFailed ||
		!strings.Contains(r.stderr, "has one shard") {
		t.Errorf("journal split: %+v", r)
	}
	r := hikyaku(t, "", []string{"HIKYAKU_DATA=" + data}, "stop", "-c", filepath.Join(dir, "serve.yaml"))
	if r.code != exitOK || !strings.Contains(r.stdout, "has stopped\n") {
		t.Errorf("stop: %+v", r)
	}
}
