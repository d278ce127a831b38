package config

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
)

func TestAGraphThatIsWholeHasNoWarnings(t *testing.T) {
	f := parse(t, "a.yaml", `
sources:
  lines: { type: stdin }
  anything: { type: queue, queue: made/ondemand, where: "color = 1" }
  rows: { type: queue, from: { queue: test/rows, where: "id = 1 and attempts < 3 and enqueued_at > 5" } }
queues:
  rows: { columns: [id int] }
transforms:
  ways: { type: route, inputs: [lines, anything], routes: { a: "x = 1" } }
  left: { type: filter, inputs: [ways.a], where: "a = 1" }
  right: { type: filter, inputs: [ways.a, left], where: "a = 1" }
sinks:
  out: { type: stdout, inputs: [left, right, rows] }
`)
	if len(f.Warnings) > 0 {
		t.Error(f.Warnings)
	}
	a, err := f.Build(nil, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range a.Nodes {
		if got, want := strings.Join(n.Drains, " "),
			map[string]string{"anything": "made/ondemand", "rows": "test/rows"}[n.Name]; got != want {
			t.Errorf("%s drains %q, not %q", n.Name, got, want)
		}
	}
}

func TestEveryCircleIsFoundOnce(t *testing.T) {
	for text, want := range map[string][]string{
		"b <- a":                         nil,
		"a <- b, b <- a":                 {"a → b → a"},
		"a <- b, b <- c, c <- a":         {"a → c → b → a"},
		"a <- b, b <- a, c <- d, d <- c": {"a → b → a", "c → d → c"},
		"a <- b c, b <- d, c <- d":       nil,
		"a <- b c, b <- d, c <- d a":     {"a → c → a"},
		"x <- s, a <- x b, b <- a x":     {"a → b → a"},
	} {
		config := "sources: { s: { type: stdin } }\ntransforms:\n"
		names := map[string]bool{"s": true}
		for edge := range strings.SplitSeq(text, ", ") {
			name, inputs, _ := strings.Cut(edge, " <- ")
			names[name] = true
			config += "  " + name + ": { type: filter, inputs: [" + strings.ReplaceAll(inputs, " ", ", ") +
				"], where: z }\n"
		}
		for name := range map[string]bool{"a": true, "d": true} {
			if !names[name] && strings.Contains(text, name) {
				config += "  " + name + ": { type: filter, inputs: [s], where: z }\n"
			}
		}
		_, err := Parse("a.yaml", []byte(config), noEnv)
		var got []string
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				_, circle, ok := strings.Cut(line, "in a circle: ")
				if !ok {
					t.Errorf("%s: %s", text, line)
				}
				circle, _, _ = strings.Cut(circle, " (")
				got = append(got, circle)
			}
		}
		if strings.Join(got, ", ") != strings.Join(want, ", ") {
			t.Errorf("%s: %v, not %v", text, got, want)
		}
	}
}
