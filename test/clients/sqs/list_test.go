package clients_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

// checks are what every SDK's program does, in this order. README.md says what they are.
var checks = []string{
	"queues", "attributes", "send-receive", "batches", "long-poll", "many-waiting", "visibility", "dead-letter", "move",
	"delay", "purge", "tags", "permission", "fifo", "dedup",
	"errors", "where", "shared", "signed", "delete",
}

// ofModel are those of the programs that know the service's model: of every field of every call, and of every answer to
// the checks before.
var ofModel = []string{"fields", "shapes"}

// commandLine are the checks of the command line.
var commandLine = []string{"queues", "attributes", "tags", "send-receive", "batches", "long-poll", "fifo", "move",
	"signed", "delete"}

// A client is one of Amazon's, and our program for it.
type client struct {
	conformance.Program
	checks []string
}

// clients are all of them. Their names begin the names of their queues.
func clients() []client {
	python := filepath.Join(built.Cache, "python", "bin", "python")
	older := filepath.Join(built.Cache, "python-query")
	return []client{{
		Program: conformance.Program{Name: "go", Needs: []string{"go", "version"}, Command: []string{built.GoClient}},
		checks:  checks,
	}, {
		Program: conformance.Program{
			Name: "python", Needs: []string{python, "-c", "import boto3"},
			Command: []string{python, "python/conformance.py"},
			Env:     []string{"PYTHONDONTWRITEBYTECODE=1"},
		},
		checks: append(slices.Clone(checks), ofModel...),
	}, {
		Program: conformance.Program{
			Name: "python-query", Needs: []string{python, "-c",
				"import boto3; assert boto3.__version__ < '1.28.8', boto3.__version__"},
			Command: []string{python, "python/conformance.py"},
			Env:     []string{"PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=" + older},
		},
		checks: append(slices.Clone(checks), ofModel...),
	}, {
		Program: conformance.Program{
			Name: "node", Needs: []string{"node", "-e", "require('@aws-sdk/client-sqs')"},
			Command: []string{"node", "node/conformance.js"},
			Env:     []string{"NODE_PATH=" + filepath.Join(built.Cache, "node", "node_modules")},
		},
		checks: append(slices.Clone(checks), "consumer"),
	}, {
		Program: java("java-v1", "Conformance", "v1"),
		checks:  append(slices.Clone(checks), "collector-sender"),
	}, {
		Program: java("java-v2", "Conformance", "v2"),
		checks:  append(slices.Clone(checks), "collector-sender"),
	}, {
		Program: conformance.Program{
			Name: "cli", Needs: []string{filepath.Join(built.Cache, "python", "bin", "aws"), "--version"},
			Command: []string{python, "cli/conformance.py"},
			Env:     []string{"PYTHONDONTWRITEBYTECODE=1", "AWS=" + filepath.Join(built.Cache, "python", "bin", "aws")},
		},
		checks: commandLine,
	}}
}

// java is a program that was compiled.
func java(name, class string, args ...string) conformance.Program {
	path := built.JavaClient + string(filepath.ListSeparator) + filepath.Join(built.Cache, "java", "*")
	command := []string{"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dfile.encoding=UTF-8", "-cp", path,
		class}
	return conformance.Program{Name: name, Needs: []string{"java", "-version"}, Command: append(command, args...)}
}

func TestTheListIsWhole(t *testing.T) {
	for _, c := range clients() {
		names := slices.Clone(c.checks)
		slices.Sort(names)
		if len(slices.Compact(names)) != len(c.checks) {
			t.Errorf("%s: its checks are %q", c.Name, c.checks)
		}
	}
}
