package docs

import (
	"regexp"
	"strings"
	"testing"
)

// What differs from run to run, and the word that stands for it when outputs are compared.
var varying = []struct {
	find *regexp.Regexp
	word string
}{
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "ID"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`), "TIME"},
	{regexp.MustCompile(`\b[0-9a-f]{40}\b`), "TOKEN"},
	{regexp.MustCompile(`\b\d+(\.\d+)? ?(ns|µs|ms|s|min|h)\b`), "DURATION"},
	{regexp.MustCompile(`-{3,}`), "---"},
	{regexp.MustCompile(` {2,}`), " "},
}

var numbers = regexp.MustCompile(`\d+(,\d{3})*(\.\d+)?`)

// normal takes out of an output what may differ.
func normal(text string, anyNumbers bool) string {
	for _, v := range varying {
		text = v.find.ReplaceAllString(text, v.word)
	}
	if anyNumbers {
		text = numbers.ReplaceAllString(text, "N")
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// same tells whether an output is what a document shows.
func same(shown, printed string, anyNumbers bool) bool {
	var pattern strings.Builder
	pattern.WriteString(`\A`)
	for i, line := range strings.Split(normal(shown, anyNumbers), "\n") {
		if line == "…" {
			pattern.WriteString(`(?s:.*)`)
			continue
		}
		if i > 0 {
			pattern.WriteString(`\n?`)
		}
		for k, part := range strings.Split(line, "…") {
			if k > 0 {
				pattern.WriteString(`.*`)
			}
			pattern.WriteString(regexp.QuoteMeta(part))
		}
	}
	pattern.WriteString(`\z`)
	return regexp.MustCompile(pattern.String()).MatchString(normal(printed, anyNumbers))
}

func TestOutputsAreComparedWithoutWhatVaries(t *testing.T) {
	for _, c := range []struct {
		shown, printed string
		anyNumbers     bool
		want           bool
	}{
		{"hello\n", "hello\n", false, true},
		{"hello\n", "hullo\n", false, false},
		{"3 messages", "4 messages", false, false},
		{"3 messages", "4,711 messages", true, true},
		{"3 messages", "4 letters", true, false},
		{"sums … and 2, done", "sums 17, and 31, done", true, true},
		{`{"id":"01a20014-90eb-716c-99ad-638167c8547d"}`, `{"id":"01a20014-9113-7408-bf5c-b576e0bc3ad6"}`, false, true},
		{`{"time":"2026-11-21T21:47:57.561051Z"}`, `{"time":"2027-01-01T00:00:00Z"}`, false, true},
		{"took 1.5 ms", "took 900 µs", false, true},
		{"name  age\n----  ---", "name     age\n-------  ---", false, true},
		{"begin\n…\nend", "begin\nthis\nand that\nend", false, true},
		{"begin\n…", "begin\nthis\nand that\nend", false, true},
		{"begin\n…\nend", "begin\nthis\nand that", false, false},
		{"a … z", "a b c z", false, true},
		{"a … z", "a b\nc z", false, false},
		{"one\ntwo", "one\ntwo\nthree", false, false},
	} {
		if got := same(c.shown, c.printed, c.anyNumbers); got != c.want {
			t.Errorf("same(%q, %q, %v) = %v", c.shown, c.printed, c.anyNumbers, got)
		}
	}
}
