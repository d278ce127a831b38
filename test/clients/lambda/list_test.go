package clients_test

import (
	"path/filepath"

	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

// A client is one of Amazon's, and our program for it.
type client struct {
	conformance.Program
	checks []string
}

// clients are all of them. Their names begin the names of their functions and queues.
func clients() []client {
	python := filepath.Join(built.Cache, "python", "bin", "python")
	path := built.JavaClient + string(filepath.ListSeparator) + filepath.Join(built.Cache, "java", "*")
	return []client{{
		Program: conformance.Program{
			Name: "python", Needs: []string{python, "-c", "import boto3"},
			Command: []string{python, "python/conformance.py"}, Env: []string{"PYTHONDONTWRITEBYTECODE=1"},
		},
		checks: []string{"deploy", "invoke", "stream", "versions", "events", "concurrency", "mapping", "url", "tags",
			"layers", "objects", "errors", "model", "signed", "delete"},
	}, {
		Program: conformance.Program{
			Name: "node", Needs: []string{"node", "-e", "require('@aws-sdk/client-lambda')"},
			Command: []string{"node", "node/conformance.js"},
			Env:     []string{"NODE_PATH=" + filepath.Join(built.Cache, "node", "node_modules")},
		},
		checks: []string{"deploy", "invoke", "stream", "versions", "errors", "signed", "delete"},
	}, {
		Program: conformance.Program{
			Name: "java", Needs: []string{"java", "-version"},
			Command: []string{"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dfile.encoding=UTF-8", "-cp",
				path, "Conformance"},
		},
		checks: []string{"deploy", "invoke", "versions", "errors", "signed", "delete"},
	}, {
		Program: conformance.Program{
			Name: "cli", Needs: []string{filepath.Join(built.Cache, "python", "bin", "aws"), "--version"},
			Command: []string{python, "cli/conformance.py"},
			Env: []string{"PYTHONDONTWRITEBYTECODE=1", "AWS=" + filepath.Join(built.Cache, "python", "bin", "aws"),
				"HIKYAKU=" + built.Binary},
		},
		checks: []string{"deploy", "invoke", "emulator", "hikyaku", "delete"},
	}, {
		Program: conformance.Program{
			Name: "ansible", Needs: []string{python, "-c", "import boto3"},
			Command: []string{python, "ansible/conformance.py"},
			Env:     []string{"PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=" + filepath.Join(built.Cache, "ansible")},
		},
		checks: []string{"make", "keep", "plan", "change", "remove"},
	}}
}
