//go:build linux

package editor_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// node runs editor.mjs, and reads what it wrote.
func node(t *testing.T, into any, args ...string) {
	t.Helper()
	modules, err := filepath.Abs(root + "/.cache/clients/editor/node")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", append([]string{"node/editor.mjs", modules}, args...)...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\nscripts/need-clients node installs it", err, complaint.String())
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// hikyaku runs the program; the code is its exit status.
func hikyaku(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), complaint.String(), cmd.ProcessState.ExitCode()
}

// written is a file with a text.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func schema(t *testing.T) string {
	t.Helper()
	text, complaint, code := hikyaku(t, "schema")
	if code != 0 {
		t.Fatal(complaint)
	}
	return written(t, "hikyaku.schema.json", text)
}

// mark is a place that the editor marks.
type mark struct {
	Line int
	Text string
}

func TestTheEditorMarksNothingInWhatIsRight(t *testing.T) {
	files, err := filepath.Glob(root + "/examples/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	files = append(files, root+"/packaging/hikyaku.yaml")
	var found map[string][]mark
	node(t, &found, append([]string{"complain", schema(t)}, files...)...)
	for file, marks := range found {
		if len(marks) > 0 {
			t.Errorf("%s: %+v", file, marks)
		}
	}
	if len(found) != len(files) {
		t.Errorf("%d of %d files", len(found), len(files))
	}
}

// TestTheEditorMarksWhatValidateRefuses has one mistake in each file.
func TestTheEditorMarksWhatValidateRefuses(t *testing.T) {
	var files []string
	wanted := map[string]int{}
	for name, text := range map[string]string{
		"key":      "data_dir: x\ndurabilty: os\n",
		"enum":     "data_dir: x\ndurability: often\n",
		"number":   "shards: many\n",
		"range":    "shards: 65\n",
		"unit":     "queues:\n  a:\n    lease: 30\n",
		"negative": "queues:\n  a:\n    lease: -5s\n",
		"size":     "limits:\n  bytes: 10 parsecs\n",
		"truth":    "queues:\n  a:\n    exactly_once: once\n",
		"text":     "data_dir: 5\n",
		"list":     "queues: [a]\n",
		"kind":     "sources:\n  a:\n    type: sdtin\n",
		"other's":  "sources:\n  a:\n    type: stdin\n    queue: b\nsinks:\n  b: { type: stdout, inputs: [a] }\n",
		"deep": "sources: { a: { type: stdin } }\nsinks:\n  b:\n    type: stdout\n    inputs: [a]\n    " +
			"request:\n      concurrency: lots\n",
		"user":      "users:\n  - name: a\n    secret: a long secret\n    grant: []\n",
		"door":      "api:\n  http:\n    lisen: 127.0.0.1:1\n",
		"missing":   "sources: { a: { type: stdin } }\nsinks:\n  b: { type: stdout }\n",
		"component": "sources:\n  a b: { type: stdin }\n",
	} {
		file := written(t, name+".yaml", text)
		_, complaint, code := hikyaku(t, "validate", "-c", file)
		line := regexp.MustCompile(`\.yaml:(\d+):\d+: `).FindStringSubmatch(complaint)
		if code != 1 || line == nil {
			t.Errorf("%s: validate says %s", name, complaint)
			continue
		}
		files = append(files, file)
		wanted[file], _ = strconv.Atoi(line[1])
	}
	var found map[string][]mark
	node(t, &found, append([]string{"complain", schema(t)}, files...)...)
	for file, line := range wanted {
		if !slices.ContainsFunc(found[file], func(m mark) bool { return m.Line == line }) {
			t.Errorf("%s: the editor marks %+v, and validate line %d", file, found[file], line)
		}
	}
}

func TestTheEditorOffersKeysAndValues(t *testing.T) {
	with := schema(t)
	for _, c := range []struct {
		text         string
		line, column int
		offers, not  string
		says         string
	}{
		{"dura\n", 1, 5, "durability", "lease", "What an acknowledgement means"},
		{"durability: \n", 1, 13, "fsync", "", ""},
		{"sources:\n  a:\n    type: \n", 3, 11, "http_server", "webhook", ""},
		{"sources:\n  a:\n    type: http_server\n    \n", 4, 5, "max_body_bytes", "queue", ""},
		{"queues:\n  a:\n    \n", 3, 5, "dedup_window", "listen", ""},
	} {
		var items []struct{ Label, Text string }
		node(t, &items, "complete", with, written(t, "x.yaml", c.text), strconv.Itoa(c.line), strconv.Itoa(c.column))
		offered, labels := false, []string{}
		for _, i := range items {
			labels = append(labels, i.Label)
			offered = offered || i.Label == c.offers && strings.Contains(i.Text, c.says)
		}
		if !offered || c.not != "" && slices.Contains(labels, c.not) {
			t.Errorf("%q: it offers %q", c.text, labels)
		}
	}
}

// awkward has texts that other formats give a meaning.
const awkward = "queues: { 飛脚: { dead_letter: 墓 } }\n" +
	"sources: { in: { type: queue, queue: 飛脚, where: \"a = '\\\"<b>&\\\\\\\\' and\\n c < 5 or d = '#`|]%{}'\" } }\n" +
	"transforms: { end: { type: filter, inputs: [in], where: \"x = '東京'\" } }\n" +
	"sinks: { graph: { type: stdout, inputs: [in, end] } }\n"

func TestGraphvizAndMermaidReadPictures(t *testing.T) {
	files, err := filepath.Glob(root + "/examples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, written(t, "awkward.yaml", awkward))
	var diagrams []string
	for _, file := range files {
		text, complaint, code := hikyaku(t, "graph", "--format", "dot", "-c", file)
		if code != 0 {
			t.Errorf("%s: %s", file, complaint)
			continue
		}
		dot := exec.CommandContext(t.Context(), "dot", "-Tplain")
		dot.Stdin = strings.NewReader(text)
		plain, err := dot.CombinedOutput()
		if err != nil || bytes.Contains(plain, []byte("Warning")) {
			t.Errorf("%s: %v\n%s\n%s\nscripts/need-clients graphviz installs dot", file, err, plain, text)
		}
		if strings.Contains(file, "awkward") && (!bytes.Contains(plain, []byte("飛脚")) ||
			!bytes.Contains(plain, []byte(`<b>&`)) || !bytes.Contains(plain, []byte(" dashed "))) {
			t.Errorf("of awkward texts dot reads\n%s", plain)
		}
		text, _, _ = hikyaku(t, "graph", "--format", "mermaid", "-c", file)
		diagrams = append(diagrams, written(t, filepath.Base(file)+".mmd", text))
	}
	wrong := written(t, "wrong.mmd", "flowchart LR\n  n0[\"a\"b\"]\n")
	var found map[string]string
	node(t, &found, append([]string{"mermaid", wrong}, diagrams...)...)
	for file, kind := range found {
		if (kind == "flowchart-v2") == (file == wrong) {
			t.Errorf("%s: %s", file, kind)
		}
	}
	if len(found) != len(diagrams)+1 {
		t.Errorf("%d of %d", len(found), len(diagrams)+1)
	}
}
