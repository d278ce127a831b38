package condition

import (
	"fmt"
	"strings"
	"unicode/utf8"
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
	best, bestDistance := "", 1+min(3, (utf8.RuneCountInString(name)+1)/2)
	for _, c := range candidates {
		if d := distance(name, c, bestDistance); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", best)
}

// distance counts the letters to insert, remove, replace or swap with their neighbour to make b of a, whatever their
// case. It gives up at limit.
func distance(a, b string, limit int) int {
	ar, br := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	if len(ar)-len(br) >= limit || len(br)-len(ar) >= limit {
		return limit
	}
	before, previous, row := make([]int, len(br)+1), make([]int, len(br)+1), make([]int, len(br)+1)
	for j := range previous {
		previous[j] = j
	}
	for i, x := range ar {
		row[0] = i + 1
		for j, y := range br {
			cost := 1
			if x == y {
				cost = 0
			}
			row[j+1] = min(previous[j]+cost, previous[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x == br[j-1] && ar[i-1] == y {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, previous, row = previous, row, before
	}
	return min(previous[len(br)], limit)
}
