package condition

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/nearest"
)

// Check refuses a condition that refers to a name which known does not know. The *Error stands at the name's first use
// and suggests the nearest of candidates, if one is near. A queue whose names are open (attributes) needs no Check:
// what has no value is null.
func (e *Expr) Check(known func(name string) bool, candidates []string) error {
	return e.check(e.root, known, candidates)
}

func (e *Expr) check(n *node, known func(string) bool, candidates []string) error {
	if n.op == opName && !known(n.name) {
		return newError(e.text, n.offset, didYouMean(n.name, candidates), "unknown name %q", shorten(n.name))
	}
	for _, a := range n.args {
		if err := e.check(a, known, candidates); err != nil {
			return err
		}
	}
	return nil
}

// didYouMean suggests the candidate that is fewest letters away, if that is near enough to be a slip.
func didYouMean(name string, candidates []string) string {
	if n := nearest.Name(name, candidates); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return ""
}
