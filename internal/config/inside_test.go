package config

import (
	"encoding/json"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

// marked gives a text with one mark in it, and the same without: the mark's place in the file is where the byte after
// it stands.
const mark = "❌"

func TestAPlaceInAValueIsAPlaceInTheFile(t *testing.T) {
	for _, c := range []struct{ name, ending, text string }{
		{"plain", ".yaml", "a: one ❌two"},
		{"plain at its start", ".yaml", "a: ❌one two"},
		{"plain in a flow", ".yaml", "{ b: c, a: one ❌two }"},
		{"plain folded", ".yaml", "a: one\n   two ❌three"},
		{"plain folded twice", ".yaml", "a: one\n   two\n     ❌three"},
		{"single quotes", ".yaml", "a: 'it''s ❌two'"},
		{"single quotes folded", ".yaml", "a: 'one\n    ❌two'"},
		{"double quotes", ".yaml", `a: "tab\t \"quoted\" \u98db \x41 \U0001F600 ❌two"`},
		{"double quotes folded", ".yaml", "a: \"one\n    ❌two\""},
		{"double quotes joined", ".yaml", "a: \"one\\\n    ❌two\""},
		{"literal", ".yaml", "a: |\n  one\n  ❌two\n"},
		{"literal, deeper", ".yaml", "a: |\n  one\n    two ❌three\n"},
		{"literal with an empty line", ".yaml", "a: |\n\n  one\n\n  ❌two\n"},
		{"literal kept", ".yaml", "a: |+ # why\n    one\n    ❌two\n\n"},
		{"folded", ".yaml", "a: >-\n  one\n  ❌two\n"},
		{"after an anchor", ".yaml", "a: &x 'one ❌two'"},
		{"after characters of several bytes", ".yaml", "飛脚: x\na: 飛脚 ❌two"},
		{"windows", ".yaml", "a: |\r\n  one\r\n  ❌two\r\n"},
		{"basic", ".toml", `a = "tab\t \"quoted\" \u98db ❌two"`},
		{"literal", ".toml", `a = 'C:\new ❌two'`},
		{"long", ".toml", "a = \"\"\"\n  one\n  ❌two\"\"\""},
		{"long literal", ".toml", "a = '''one\n  ❌two'''"},
		{"json", ".json", `{"a": "tab\t \"quoted\" \/ \u98db ❌two"}`},
		{"with the environment", ".yaml", "a: ${SHORT} and ${LONG} ❌two"},
		{"with an escape", ".yaml", "a: '$$5 ''$$'' ❌two'"},
	} {
		t.Run(c.ending[1:]+" "+c.name, func(t *testing.T) {
			i := strings.Index(c.text, mark)
			text := strings.Replace(c.text, mark, "", 1)
			s, failure := newSource("a"+c.ending, []byte(text))
			if failure != nil {
				t.Fatal(failure)
			}
			root, failure := read(s)
			if failure != nil {
				t.Fatal(failure)
			}
			r := &report{file: s}
			r.expand(root, environment("SHORT=x", "LONG=a much longer text\nof two lines"))
			n := root.get("a")
			word, _, _ := strings.Cut(c.text[i+len(mark):], "'")
			word = strings.FieldsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' })[0]
			if got, want := s.within(n, strings.LastIndex(n.text, word)), s.place(i); got != want {
				t.Errorf("%q in %q: %v, not %v", word, n.text, got, want)
			}
		})
	}
}

func TestAPlaceInsideOfWhatTheEnvironmentGaveIsThatOfTheVariable(t *testing.T) {
	s, _ := newSource("a.yaml", []byte("a: one ${X} two"))
	root, _ := read(s)
	(&report{file: s}).expand(root, environment("X=from somewhere else"))
	if got, want := s.within(root.get("a"), 10), (place{1, 8}); got != want {
		t.Errorf("%v, not %v", got, want)
	}
}

// The word that a place names is found there however YAML and JSON write the text around it.
func TestPlacesHoldForAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.StringOf(rapid.RuneFrom([]rune("ab \n\t\"'\\:#{}$飛😀é|>-"))).Draw(t, "before")
		value := strings.ReplaceAll(before, "$", "$$") + "ZZZ"
		asJSON := rapid.Bool().Draw(t, "json")
		var text []byte
		name := "a.yaml"
		if asJSON {
			name = "a.json"
			text, _ = json.Marshal(map[string]string{"a": value})
		} else {
			text, _ = yaml.Marshal(map[string]string{"a": value})
			var back map[string]string
			if yaml.Unmarshal(text, &back) != nil || back["a"] != value {
				return // the library cannot read everything that it writes
			}
		}
		s, failure := newSource(name, text)
		if failure != nil {
			t.Fatal(failure)
		}
		root, failure := read(s)
		if failure != nil {
			t.Fatalf("%s: %v", text, failure)
		}
		(&report{file: s}).expand(root, noEnv)
		n := root.get("a")
		if n.text != before+"ZZZ" {
			t.Fatalf("%q became %q", before, n.text)
		}
		p := s.within(n, len(before))
		offset, ok := s.offset(p)
		if found := strings.HasPrefix(string(text[offset:]), "ZZZ"); !ok || !found && p != n.at {
			t.Fatalf("%q: %v is %q", text, p, text[offset:])
		} else if asJSON && !found {
			t.Fatalf("%q: not found", text)
		}
	})
}
