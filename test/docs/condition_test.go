package docs

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// attributes are an environment for conditions.
type attributes message.Attributes

func (a attributes) Lookup(name string) message.Value {
	v, _ := message.Attributes(a).Get(name)
	return v
}

// result says what a condition is for a message: yes, no or null.
func result(e *condition.Expr, a attributes) string {
	switch v := e.Eval(a); {
	case v.IsNull():
		return "null"
	case e.Match(a):
		return "yes"
	default:
		return "no"
	}
}

func TestEveryExampleOfAConditionIsTrue(t *testing.T) {
	p := readPage(t, filepath.Join(root, "docs", "conditions.md"))
	examples := 0
	inTable := false
	for i, line := range p.lines {
		cells := cellsOf(line)
		if len(cells) != 3 {
			inTable = false
			continue
		}
		switch {
		case cells[0] == "condition" && cells[2] == "matches":
			inTable = true
		case !inTable || strings.HasPrefix(cells[0], "---"):
		default:
			examples++
			where := strings.ReplaceAll(strings.Trim(cells[0], "`"), `\|`, "|")
			e, err := condition.Parse(where)
			if err != nil {
				t.Errorf("%s:%d: %v", p.path, i+1, err)
				continue
			}
			var a message.Attributes
			if err := a.UnmarshalJSON([]byte(strings.Trim(cells[1], "`"))); err != nil {
				t.Errorf("%s:%d: %s: %v", p.path, i+1, cells[1], err)
				continue
			}
			if got := result(e, attributes(a)); got != cells[2] {
				t.Errorf("%s:%d: %s with %s: the page says %s, it is %s", p.path, i+1, where, cells[1], cells[2], got)
			}
		}
	}
	if examples < 30 {
		t.Errorf("the page has only %d examples: are its tables still headed condition, a message with, matches?",
			examples)
	}
}

// cellsOf takes a line of a table apart; nil when it is none.
func cellsOf(line string) []string {
	if !strings.HasPrefix(line, "|") || !strings.HasSuffix(line, "|") {
		return nil
	}
	const escaped = "\x00"
	line = strings.ReplaceAll(strings.Trim(line, "|"), `\|`, escaped)
	cells := strings.Split(line, "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(strings.ReplaceAll(cells[i], escaped, `\|`))
	}
	return cells
}
