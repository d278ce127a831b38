package config

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestPlacesAndOffsetsAreTheSameThing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab \n\r飛😀"))).Draw(t, "text")
		s, failure := newSource("a.yaml", []byte(text))
		if failure != nil {
			t.Fatal(failure)
		}
		p := placer{source: s}
		for range 20 {
			offset := rapid.IntRange(0, len(text)).Draw(t, "offset")
			for offset < len(text) && !utf8.RuneStart(text[offset]) {
				offset++
			}
			at := s.place(offset)
			if back, ok := s.offset(at); !ok || back != offset {
				t.Fatalf("%d is at %v, which is %d", offset, at, back)
			}
			if got := p.place(offset); got != at {
				t.Fatalf("%d is at %v, and the placer says %v", offset, at, got)
			}
			before := text[:offset]
			if line := strings.Count(before, "\n") + 1; at.line != line {
				t.Fatalf("%d is on line %d, not %d", offset, line, at.line)
			}
		}
	})
}

func TestAMistakeIsAlwaysInsideOfTheText(t *testing.T) {
	s, _ := newSource("a.yaml", []byte("飛脚\nx\n"))
	for _, c := range []struct{ at, want place }{
		{place{}, place{1, 1}}, {place{1, 3}, place{1, 3}}, {place{1, 99}, place{1, 3}}, {place{2, -1}, place{2, 1}},
		{place{3, 5}, place{3, 1}}, {place{99, 99}, place{3, 1}}, {place{-1, 2}, place{1, 2}},
	} {
		if e := s.error(c.at, "", "m"); (place{e.Line, e.Column}) != c.want {
			t.Errorf("%v became %d:%d, not %v", c.at, e.Line, e.Column, c.want)
		}
	}
	for _, p := range []place{{0, 1}, {4, 1}, {2, 3}} {
		if offset, ok := s.offset(p); ok {
			t.Errorf("%v is %d", p, offset)
		}
	}
}

func TestAByteOrderMarkIsNoText(t *testing.T) {
	for _, name := range []string{"a.yaml", "a.toml"} {
		errs := mistakes(t, name, map[string]string{"a.yaml": "\ufeffx: 1", "a.toml": "\ufeffx = 1"}[name])
		if errs[0].Line != 1 || errs[0].Column != 1 {
			t.Errorf("%s: %v", name, errs[0])
		}
	}
}
