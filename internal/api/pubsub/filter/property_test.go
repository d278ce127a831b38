package filter_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/filter"
)

// model is a filter as a function and as a text. It is all that these tests know of the language.
type model struct {
	text    string
	matches func(attributes) bool
	compare bool   // a comparison, which needs no parentheses anywhere
	join    string // "AND", "OR" or ""
}

var (
	someKeys   = []string{"a", "b", "lang", "id", "not", "a.b", "iana.org/tag", "x`y", "みんな", "a b", "-", "é"}
	someValues = []string{"", "a", "ab", "a%b", "a_b", `a\`, `\%`, "'", `"`, "飛脚", "5", "05", "null", "\x00", "\n",
		"a'b\"c"}
)

func drawModel(t *rapid.T, depth int) model {
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	if depth == 0 {
		kind %= 4
	}
	switch kind {
	case 0:
		key := drawKey(t)
		return model{text: "attributes:" + spelledKey(t, key), compare: true,
			matches: func(a attributes) bool { _, ok := a[key]; return ok }}
	case 1:
		key, value := drawKey(t), drawValue(t)
		return model{text: "attributes." + spelledKey(t, key) + "=" + spelled(t, value), compare: true,
			matches: func(a attributes) bool { v, ok := a[key]; return ok && v == value }}
	case 2:
		key, value := drawKey(t), drawValue(t)
		return model{text: "attributes." + spelledKey(t, key) + " != " + spelled(t, value), compare: true,
			matches: func(a attributes) bool { v, ok := a[key]; return !ok || v != value }}
	case 3:
		key, value := drawKey(t), drawValue(t)
		return model{text: "hasPrefix(attributes." + spelledKey(t, key) + "," + spelled(t, value) + ")", compare: true,
			matches: func(a attributes) bool { v, ok := a[key]; return ok && strings.HasPrefix(v, value) }}
	case 4, 5:
		inner := drawModel(t, depth-1)
		not := rapid.SampledFrom([]string{"NOT ", "-", "NOT  -NOT "}).Draw(t, "not")
		return model{text: not + inner.within("NOT"), compare: true,
			matches: func(a attributes) bool { return !inner.matches(a) }}
	default:
		join := []string{"AND", "OR"}[kind-6]
		parts := make([]model, rapid.IntRange(2, 3).Draw(t, "parts"))
		texts := make([]string, len(parts))
		for i := range parts {
			parts[i] = drawModel(t, depth-1)
			texts[i] = parts[i].within(join)
		}
		return model{text: strings.Join(texts, " "+join+" "), join: join, matches: func(a attributes) bool {
			for _, p := range parts {
				if p.matches(a) != (join == "AND") {
					return join == "OR"
				}
			}
			return join == "AND"
		}}
	}
}

// within is the text as it can stand in an operator.
func (m model) within(outer string) string {
	if m.compare || m.join == outer {
		return m.text
	}
	return "(" + m.text + ")"
}

func drawKey(t *rapid.T) string   { return rapid.SampledFrom(someKeys).Draw(t, "key") }
func drawValue(t *rapid.T) string { return rapid.SampledFrom(someValues).Draw(t, "value") }

// spelledKey is a key bare where that is possible, in quotes now and then.
func spelledKey(t *rapid.T, key string) string {
	if strings.ContainsAny(key, "./` é") || key[0] >= 0x80 || rapid.Bool().Draw(t, "quoted") {
		return spelled(t, key)
	}
	return key
}

// spelled is a string with its characters escaped in one way or another.
func spelled(t *rapid.T, s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		way := rapid.IntRange(0, 4).Draw(t, "way")
		switch {
		case way == 1:
			fmt.Fprintf(&b, `\u%04x`, r)
		case way == 2:
			fmt.Fprintf(&b, `\U%08X`, r)
		case way == 3:
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		case way == 4:
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// models are those that are short enough for a filter.
var models = rapid.Custom(func(t *rapid.T) model { return drawModel(t, 3) }).Filter(
	func(m model) bool { return len(m.text) <= filter.MaxBytes })

func TestEveryFilterMeansWhatASimpleEvaluatorSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := models.Draw(t, "filter")
		e := compiled(t, m.text)
		for range 8 {
			on := attributes(rapid.MapOfN(rapid.SampledFrom(someKeys), rapid.SampledFrom(someValues), 0, 6).Draw(t,
				"attributes"))
			if got, want := e.Match(on), m.matches(on); got != want {
				t.Fatalf("%s (%s) with %q: %v, wanted %v", m.text, e, on, got, want)
			}
		}
	})
}
