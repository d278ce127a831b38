package condition

import (
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
)

// env is a map as the source of values.
type env map[string]message.Value

func (e env) Lookup(name string) message.Value { return e[name] }

// row is a slice as the source of values.
type row []message.Value

func (r row) Slot(i int) message.Value { return r[i] }

func parse(t testing.TB, text string) *Expr {
	t.Helper()
	e, err := Parse(text)
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	return e
}

// grouped shows a tree with every pair of parentheses, so that tests see what binds to what.
func grouped(n *node) string {
	switch n.op {
	case opConst, opName:
		var b strings.Builder
		n.print(&b)
		return b.String()
	}
	args := make([]string, len(n.args))
	for i, a := range n.args {
		args[i] = grouped(a)
	}
	not := ""
	if n.negated {
		not = "not "
	}
	switch n.op {
	case opNot:
		return "(not " + args[0] + ")"
	case opNegate:
		return "(- " + args[0] + ")"
	case opInvert:
		return "(~ " + args[0] + ")"
	case opIs:
		return "(" + args[0] + " is " + not + [...]string{"null", "true", "false"}[n.test] + ")"
	case opIn:
		return "(" + args[0] + " " + not + "in " + strings.Join(args[1:], ", ") + ")"
	case opBetween:
		return "(" + args[0] + " " + not + "between " + args[1] + " and " + args[2] + ")"
	case opLike:
		return "(" + args[0] + " " + not + "like " + args[1] + ")"
	case opCall:
		return functions[n.function].name + "(" + strings.Join(args, ", ") + ")"
	default:
		return "(" + strings.Join(args, " "+spellings[n.op].text+" ") + ")"
	}
}
