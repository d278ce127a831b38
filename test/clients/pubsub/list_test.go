package clients_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

// checks are what every program does, in this order. README.md says what they are.
var checks = []string{
	"create", "update", "errors",
	"publish-plain", "publish-batched", "publish-compressed", "publish-ordered",
	"pull", "nack", "exactly-once", "dead-letter", "seek-time", "seek-snapshot", "filter", "schema",
	"delete",
}

// A client is one of Google's, and our program for it.
type client struct {
	conformance.Program
	project string   // of its own, so that clients can run beside each other
	more    []string // checks that only some do
}

// expected are the checks that have to be done.
func (c client) expected() []string { return slices.Concat(checks, c.more) }

// clients are all of them.
func clients() []client {
	python := filepath.Join(built.Cache, "python", "bin", "python")
	jars := filepath.Join(built.Cache, "java", "*")
	return []client{{
		Program: conformance.Program{Name: "go", Needs: []string{"go", "version"}, Command: []string{built.GoClient}},
		project: "clients-go",
		more:    []string{"push", "detach", "iam", "rest", "transform"},
	}, {
		Program: conformance.Program{
			Name: "python", Needs: []string{python, "-c", "from google.cloud import pubsub_v1"},
			Command: []string{python, "python/conformance.py"},
			Env:     []string{"PYTHONDONTWRITEBYTECODE=1"},
		},
		project: "clients-python",
		more:    []string{"restart", "seek-other", "rest", "same", "transform"},
	}, {
		Program: conformance.Program{
			Name: "java", Needs: []string{"java", "-version"},
			Command: []string{"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dfile.encoding=UTF-8", "-cp",
				built.JavaClient + string(filepath.ListSeparator) + jars, "Conformance"},
		},
		project: "clients-java",
		more:    []string{"restart", "rest"},
	}, {
		Program: conformance.Program{
			Name: "node", Needs: []string{"node", "-e", "require('@google-cloud/pubsub')"},
			Command: []string{"node", "node/conformance.js"},
			// Without this it looks for Google's own machines first.
			Env: []string{"NODE_PATH=" + filepath.Join(built.Cache, "node", "node_modules"),
				"METADATA_SERVER_DETECTION=none"},
		},
		project: "clients-node",
		more:    []string{"restart", "push", "rest"},
	}}
}

func TestTheListIsWhole(t *testing.T) {
	for _, c := range clients() {
		names := c.expected()
		slices.Sort(names)
		if len(slices.Compact(slices.Clone(names))) != len(names) {
			t.Errorf("%s: its checks are %q", c.Name, names)
		}
	}
}
