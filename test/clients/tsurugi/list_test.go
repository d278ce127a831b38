package clients_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

// checks are what every program does, in this order. README.md says what they are.
var checks = []string{
	"connect", "credentials", "tables", "text", "types", "nulls",
	"pipelined", "many-rows", "large-result", "closed-early",
	"errors", "rollback", "conflict", "long", "read-only", "commits", "explain", "too-many-rows", "shutdown",
}

// A client is one of TsurugiDB's own, and our program for it.
type client struct {
	conformance.Program
	more []string // checks that only some do
}

// expected are the checks that have to be done.
func (c client) expected() []string { return slices.Concat(checks, c.more) }

// clients are all of them.
func clients() []client {
	return []client{{
		Program: conformance.Program{
			Name: "java", Needs: []string{"java", "-version"},
			Command: []string{"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dfile.encoding=UTF-8", "-cp",
				javaClient + string(filepath.ListSeparator) + filepath.Join(cache, "java", "*"), "Conformance"},
		},
		more: []string{"iceaxe"},
	}, {
		Program: conformance.Program{Name: "rust", Needs: []string{"cargo", "--version"},
			Command: []string{rustClient}},
		more: []string{"large-objects"},
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
