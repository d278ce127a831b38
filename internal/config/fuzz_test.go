package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzParseYAML(f *testing.F) { fuzz(f, ".yaml", sameYAML) }
func FuzzParseTOML(f *testing.F) { fuzz(f, ".toml", sameTOML) }
func FuzzParseJSON(f *testing.F) { fuzz(f, ".json", sameJSON) }

// fuzz checks that no text makes Parse panic, that every mistake's place is inside of the text, and that showing it
// never fails.
func fuzz(f *testing.F, ending, seed string) {
	files, err := filepath.Glob("testdata/mistakes/*" + ending)
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(seed))
	env := environment("SECRET=hunter22", "PASSWORD=hunter22", "NUMBER=12", "EMPTY=")
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Parse("fuzz"+ending, text, env)
		var errs Errors
		switch {
		case err == nil:
			if err := file.Check(); err != nil {
				t.Fatalf("Check finds what Parse did not: %v", err)
			}
			errs = file.Warnings
		case !errors.As(err, &errs) || len(errs) == 0:
			t.Fatalf("%T is no Errors: %v", err, err)
		case len(errs) > MaxErrors+1:
			t.Fatalf("%d errors", len(errs))
		}
		lines := strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n")
		for _, e := range errs {
			if e.Line < 1 || e.Line > len(lines) {
				t.Fatalf("line %d of %d: %v", e.Line, len(lines), e)
			}
			if width := utf8.RuneCountInString(lines[e.Line-1]); e.Column < 1 || e.Column > width+1 {
				t.Fatalf("column %d of %d: %v", e.Column, width, e)
			}
			if e.Message == "" {
				t.Fatal("an error says nothing")
			}
			_ = e.Pretty(text)
		}
	})
}
