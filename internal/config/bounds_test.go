package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Reading takes time and memory in proportion to the file, whatever is in it: anything that grew with the square of the
// size would not end here.
func TestLargeAndHostileFilesAreReadOrRefused(t *testing.T) {
	const large = MaxBytes / 16
	fill := func(unit string) string { return strings.Repeat(unit, large/len(unit)) }
	for name, text := range map[string]string{
		"open lists.yaml":      fill("["),
		"open lists.toml":      "a = " + fill("["),
		"open lists.json":      fill("["),
		"open mappings.yaml":   fill("{a: "),
		"open mappings.json":   fill(`{"a":`),
		"block lists.yaml":     fill("- "),
		"many keys.yaml":       "queues:\n" + fill("  x: {}\n"),
		"comments.yaml":        fill("# c\n"),
		"keys and notes.yaml":  fill("a: # c\n  # d\n"),
		"dotted key.toml":      "a" + fill(".a") + " = 1",
		"dotted table.toml":    "[a" + fill(".a") + "]",
		"many tables.toml":     fill("[[a]]\n"),
		"one long text.json":   `{"data_dir": "` + fill("x") + `"}`,
		"one long text.yaml":   "data_dir: >\n" + fill(" x\n"),
		"dollars.yaml":         "data_dir: " + fill("$"),
		"open variables.yaml":  "data_dir: " + fill("${"),
		"variables.yaml":       "data_dir: x" + fill("${A:-}"),
		"anchors.yaml":         fill("- &a x\n"),
		"aliases.yaml":         "a: &a x\nb:\n" + fill("- *a\n"),
		"merges.yaml":          "a: &a {x: 1}\nb:\n" + fill("  <<: *a\n"),
		"escapes.json":         `{"durability": "` + fill(`\u0041`) + `"}`,
		"wide characters.yaml": "durability: " + fill("飛"),
		"empty lines.yaml":     fill("\n"),
		"broken escape.yaml":   `data_dir: "` + fill(`\`),
		"tabs.yaml":            fill("\t"),
		"documents.yaml":       fill("---\n"),
		"tables.toml":          number(20_000, "[queues.q%d]\n"),
		"keys.toml":            "[labels]\n" + number(20_000, "k%d.x = 1\n"),
		"queues.yaml":          "queues:\n" + number(20_000, "  q%d: { labels: [] }\n"),
		"users.yaml": "users:\n" + number(5_000,
			"  u%d: { secret: 'secret %[1]d', grants: { can: put, on: '*' } }\n"),
		"components.yaml": "sources:\n" + number(5_000, "  s%d: { type: stdin }\n"),
		"inputs.yaml": "sources:\n" + number(900, "  s%d: { type: stdin }\n") + "sinks:\n" + number(300,
			"  k%d: { type: stdout, inputs: ["+number(20, "x%d, ")+"] }\n"),
		"transforms.yaml": "sources: { s: { type: stdin } }\ntransforms:\n" + number(900,
			"  t%d: { type: filter, where: a, inputs: [s, t%[1]d, t1, t2, t3] }\n"),
		"namespaces.yaml": "namespaces: { a: [" + number(5_000, "n%d, ") + "] }\nqueues:\n" + number(5_000,
			"  n%d/q: {}\n"),
	} {
		_, err := Parse(name, []byte(text), noEnv)
		var errs Errors
		if err != nil && !errors.As(err, &errs) {
			t.Errorf("%s: %T", name, err)
		}
		if len(errs.Error()) > 200_000 || len(errs.Pretty([]byte(text))) > 200_000 {
			t.Errorf("%s: the errors take %d bytes", name, len(errs.Error()))
		}
	}
}

// number repeats a unit with numbers in it.
func number(n int, unit string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, unit, i)
	}
	return b.String()
}
