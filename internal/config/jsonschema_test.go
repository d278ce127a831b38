package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	complaint "github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// compiled is the schema as another's validator reads it.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := jsonschema.UnmarshalJSON(bytes.NewReader(JSONSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("hikyaku.json", text); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("hikyaku.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// complaints are the lines of a file that the schema complains of, in order, each once.
func complaints(t *testing.T, s *jsonschema.Schema, name string, text []byte) (lines []int) {
	t.Helper()
	from, failure := newSource(name, text)
	if failure != nil {
		t.Fatal(failure)
	}
	root, failure := read(from)
	if failure != nil {
		t.Fatalf("%s: %v", name, failure)
	}
	var invalid *jsonschema.ValidationError
	if err := s.Validate((&decoder{&report{file: from}}).plain(root)); !errors.As(err, &invalid) {
		if err != nil {
			t.Fatal(err)
		}
		return nil
	}
	var visit func(e *jsonschema.ValidationError)
	visit = func(e *jsonschema.ValidationError) {
		if _, name := e.ErrorKind.(*complaint.PropertyNames); name || len(e.Causes) == 0 ||
			slices.Contains(e.ErrorKind.KeywordPath(), "anyOf") {
			for _, at := range placesOf(root, e) {
				lines = append(lines, at.line)
			}
			return
		}
		for _, c := range e.Causes {
			visit(c)
		}
	}
	visit(invalid)
	slices.Sort(lines)
	return slices.Compact(lines)
}

// placesOf are where an editor shows a complaint: at the value, or at the keys that nobody knows or that are no names.
func placesOf(n *node, e *jsonschema.ValidationError) (all []place) {
	if bad, ok := e.ErrorKind.(*complaint.PropertyNames); ok {
		return keysNamed(n, bad.Property, len(e.InstanceLocation))
	}
	at := n.at
	for _, name := range e.InstanceLocation {
		if i, err := strconv.Atoi(name); err == nil && n.kind == kindList {
			n = n.items[i]
			at = n.at
			continue
		}
		for _, p := range n.pairs {
			if p.key == name {
				n, at = p.value, p.value.at
			}
		}
	}
	if text := e.ErrorKind.KeywordPath(); slices.Contains(text, "additionalProperties") {
		for _, p := range n.pairs {
			if strings.Contains(e.Error(), "'"+p.key+"'") {
				all = append(all, p.at)
			}
		}
		return all
	}
	return []place{at}
}

// keysNamed are the places of all keys of a name that are so many mappings or lists deep. The validator's location of a
// bad name shares its memory with the locations of what was validated after it, so only its length can be relied on.
func keysNamed(n *node, name string, deep int) (all []place) {
	for _, p := range n.pairs {
		if deep == 0 && p.key == name {
			all = append(all, p.at)
		}
		if deep > 0 {
			all = append(all, keysNamed(p.value, name, deep-1)...)
		}
	}
	for _, item := range n.items {
		if deep > 0 {
			all = append(all, keysNamed(item, name, deep-1)...)
		}
	}
	return all
}

func TestTheSchemaTakesWhatIsRight(t *testing.T) {
	s := compiled(t)
	files, err := filepath.Glob("../../examples/*.[yt]*ml")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, file := range append(files, "../../packaging/hikyaku.yaml") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if lines := complaints(t, s, file, text); lines != nil {
			t.Errorf("%s: lines %v", file, lines)
		}
	}
	for _, text := range []string{
		"", "queues:", "queues: { news: }", "queues: { shop/news: { lease: 1h30m, delay: 0, columns: a int } }",
		"limits: { bytes: 64KiB, memory: 5, messages: 5, waiters: '${N}', message_bytes: 10 MB }",
		"queues: { news: { lease: 7d, history: .5s, retention: '${R}', exactly_once: '${E}', ordering: '${O}' } }",
		"durability: '${D:-fsync}'", "outbound: { allow: any }", "outbound: { allow: [loopback, 10.0.0.0/8] }",
		"users: { annabel: { secret: a long secret, grants: { can: put, on: '*' } } }",
		"users: [{ name: annabel, secret: a long secret, grants: [{ can: [put], on: [a, b] }] }]",
		"sources: { in: { type: stdin } }\nsinks: { out: { type: stdout, inputs: in, request: { concurrency: 5, " +
			"retry_attempts: unlimited, retry_jitter_mode: Full } } }",
		"sources: { in: { type: stdin } }\nsinks: { out: { type: stdout, inputs: [in], request: { concurrency: " +
			"adaptive, " +
			"retry_attempts: 0 }, acknowledgements: { enabled: true } } }",
	} {
		if _, err := Parse("x.yaml", []byte(text), environment("N=5", "R=1s", "E=true", "O=keys")); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if lines := complaints(t, s, "x.yaml", []byte(text)); lines != nil && !strings.Contains(text,
			"acknowledgements") {
			t.Errorf("%s: lines %v", text, lines)
		}
	}
}

// TestTheSchemaComplainsWhereTheCheckDoes compares lines: of mistakes that one value has, all, and of the others none
// that the check does not know of.
func TestTheSchemaComplainsWhereTheCheckDoes(t *testing.T) {
	s := compiled(t)
	files, err := filepath.Glob("testdata/mistakes/*.[yjt]*")
	if err != nil || len(files) < 40 {
		t.Fatal(files, err)
	}
	all := 0 // mistakes that both know
	for _, file := range files {
		if strings.Contains(file, "too-many") {
			continue // the check does not tell all
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		from, failure := newSource(file, text)
		if failure != nil {
			continue
		}
		if _, failure := read(from); failure != nil {
			continue // an editor says so by itself
		}
		var known []int
		_, err = Parse(file, text, noEnv)
		var errs Errors
		if err != nil && !errors.As(err, &errs) {
			t.Fatal(err)
		}
		for _, e := range errs {
			known = append(known, e.Line)
		}
		lines := complaints(t, s, file, text)
		for _, line := range lines {
			if !slices.Contains(known, line) {
				t.Errorf("%s:%d: the schema alone complains", file, line)
			}
		}
		all += len(lines)
		if strings.Contains(file, "wrong-types") || strings.Contains(file, "unknown-key") ||
			strings.Contains(file, "component-type") || strings.Contains(file, "component-keys") ||
			strings.Contains(file, "component-shape") {
			if known = slices.Compact(known); !slices.Equal(lines, known) {
				t.Errorf("%s: the schema complains of lines %v, the check of %v", file, lines, known)
			}
		}
	}
	if all < 60 {
		t.Errorf("the schema finds %d mistakes", all)
	}
}
