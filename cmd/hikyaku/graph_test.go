package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/config"
)

// awkward is a configuration whose texts have all that other formats give a meaning.
const awkward = `
queues: { 飛脚: { dead_letter: 墓 } }
sources:
  in: { type: queue, queue: 飛脚, where: "a = '\"<b>&\\\\' and\n  c < 5 or d = '#` + "`" + `|]'" }
  more: { type: queue, queue: again }
transforms: { pass: { type: filter, inputs: [in, more], where: "x = '東京'" } }
sinks: { out: { type: queue, queue: again, inputs: [pass] }, far: { type: stdout, inputs: [in, pass] } }
`

func TestGraphWritesEachFormat(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.yaml")
	if err := os.WriteFile(name, []byte(awkward), 0o600); err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]string{
		"text": "queue 飛脚\n  -.-> queue 墓\n", "svg": "<svg ", "dot": `digraph "x.yaml" {`, "mermaid": "flowchart LR\n",
	} {
		if r := hikyaku(t, "", nil, "graph", "-c", name, "--format", format); r.code != 0 ||
			!strings.Contains(r.stdout, want) {
			t.Errorf("%s: %+v", format, r)
		}
	}
	if r := hikyaku(t, "", nil, "graph", "-c", name, "--format", "png"); r.code != exitUsage ||
		!strings.Contains(r.stderr, "dot, mermaid, svg, text") {
		t.Errorf("%+v", r)
	}
	if r := hikyaku(t, "", nil, "graph"); r.code != exitFailed || !strings.Contains(r.stderr, "-c FILE") {
		t.Errorf("%+v", r)
	}
	if r := hikyaku(t, "", nil, "schema"); r.code != 0 || r.stdout != string(config.JSONSchema()) {
		t.Errorf("schema: %d, %d bytes", r.code, len(r.stdout))
	}
}
