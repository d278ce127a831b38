package filter

import (
	"errors"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// evaluate is what a filter means, by its tree.
func evaluate(n *node, on map[string]string) bool {
	value, ok := on[n.key]
	switch n.op {
	case opHas:
		return ok
	case opEqual:
		return ok && value == n.value
	case opNotEqual:
		return !ok || value != n.value
	case opHasPrefix:
		return ok && strings.HasPrefix(value, n.value)
	case opNot:
		return !evaluate(n.args[0], on)
	}
	for _, a := range n.args {
		if evaluate(a, on) == (n.op == opOr) {
			return n.op == opOr
		}
	}
	return n.op == opAnd
}

// comparisons are the leaves of a filter.
func comparisons(n *node) []*node {
	if len(n.args) == 0 {
		return []*node{n}
	}
	var all []*node
	for _, a := range n.args {
		all = append(all, comparisons(a)...)
	}
	return all
}

type lookup map[string]string

func (l lookup) Lookup(name string) message.Value {
	if v, ok := l[name]; ok {
		return message.String(v)
	}
	return message.Null()
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`attributes:a`,
		`attributes.a = "x" AND (NOT attributes.b != "y" OR hasPrefix(attributes."c d", "\u3042%_\\"))`,
		`-(attributes:a OR -attributes:"b")`, `attributes.a = "\xe9\xa3\x9b\351\243\233\U0001F43E\"\'"`,
		`attributes:a AND attributes:b OR attributes:c`,
		`attributes.a = "`, `hasPrefix(attributes.a`, "attributes:\"`'\\\\%_\" AND attributes.x=\"\x00\"",
		`NOT NOT - - attributes:NOT`} {
		f.Add(seed, "x")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		parsed, err := Parse(text)
		if err != nil {
			var wrong *Error
			if !errors.As(err, &wrong) || wrong.Offset < 0 || wrong.Offset > len(text) || wrong.Message == "" ||
				wrong.Error() == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		if parsed.All() {
			return
		}
		e, err := condition.Parse(parsed.Condition(nil))
		if err != nil {
			t.Fatalf("%q became %q: %v", text, parsed.Condition(nil), err)
		}
		leaves := comparisons(parsed.root)
		for shift := range 4 {
			on := lookup{}
			for i, leaf := range leaves {
				switch (i + shift) % 4 {
				case 0:
					on[leaf.key] = leaf.value
				case 1:
					on[leaf.key] = leaf.value + value
				case 2:
					on[leaf.key] = value
				}
			}
			if got, want := e.Match(on), evaluate(parsed.root, on); got != want {
				t.Fatalf("%q (%s) with %q: %v, wanted %v", text, e, on, got, want)
			}
		}
	})
}
