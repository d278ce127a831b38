package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// noEnv is an empty environment.
func noEnv(string) (string, bool) { return "", false }

// environment looks names up in pairs "NAME=value".
func environment(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, p := range pairs {
			if n, v, _ := strings.Cut(p, "="); n == name {
				return v, true
			}
		}
		return "", false
	}
}

// parse reads a text that has no mistakes.
func parse(t *testing.T, name, text string, env ...string) *File {
	t.Helper()
	f, err := Parse(name, []byte(text), environment(env...))
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
	return f
}

// mistakes reads a text that has some.
func mistakes(t *testing.T, name, text string, env ...string) Errors {
	t.Helper()
	_, err := Parse(name, []byte(text), environment(env...))
	var errs Errors
	if !errors.As(err, &errs) || len(errs) == 0 {
		t.Fatalf("%s: want Errors, got %v", name, err)
	}
	return errs
}

func TestEveryKindOfMistakeIsShownWithItsPlaceAndWhatToDo(t *testing.T) {
	files, err := filepath.Glob("testdata/mistakes/*")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 40 {
		t.Fatalf("only %d cases", len(files))
	}
	var out strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		f, err := Parse(name, text, environment("PASSWORD=hunter22", "NUMBER=12", "EMPTY="))
		out.WriteString("=== " + name + "\n")
		before := out.Len()
		var errs Errors
		switch {
		case errors.As(err, &errs):
			out.WriteString(errs.Pretty(text) + "\n\n")
		case err != nil:
			t.Errorf("%s: %v is no Errors", name, err)
		case len(f.Warnings) > 0:
			out.WriteString("warning: " + f.Warnings.Pretty(text) + "\n\n")
		default:
			t.Errorf("%s: no mistake was found", name)
		}
		if strings.Contains(out.String()[before:], "hunter22") {
			t.Errorf("%s: a secret is shown", name)
		}
	}
	golden(t, "testdata/mistakes.golden", out.String())
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s has changed (go test -update rewrites it); now:\n%s", path, firstDifference(string(want), got))
	}
}

// firstDifference shows the lines around the first one that differs.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range g {
		if i >= len(w) || w[i] != g[i] {
			from, to := max(i-3, 0), min(i+6, len(g))
			return strings.Join(g[from:to], "\n")
		}
	}
	return "(shorter)"
}
