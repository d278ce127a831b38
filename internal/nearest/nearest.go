// Package nearest guesses which name was meant by one that is not there, for hints: "did you mean …?". It knows nothing
// of what the names are for.
//
//	if n := nearest.Name("quee", []string{"queue", "where"}); n != "" {
//		hint = fmt.Sprintf("did you mean %q?", n)
//	}
package nearest

import (
	"strings"
	"unicode/utf8"
)

// Name returns the name that s was most likely meant to be, or "" when none is near: at most a third of its letters
// may differ.
func Name(s string, names []string) string {
	if len(s) > 255 {
		return ""
	}
	best, least := "", 1<<30
	for _, n := range names {
		d := distance(strings.ToLower(s), strings.ToLower(n))
		if allowed := max(1, min(utf8.RuneCountInString(s), utf8.RuneCountInString(n))/3); d > allowed {
			// A name that is begun or ended right is near enough: "conn" for "connections".
			if len(s) < 3 || !strings.HasPrefix(n, s) && !strings.HasSuffix(n, "_"+s) {
				continue
			}
			d = allowed + 1
		}
		if d < least {
			best, least = n, d
		}
	}
	return best
}

// distance is how many letters have to be put in, taken out, changed or swapped with their neighbour to make b of a.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	var two, one []int // the rows above
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		two, one = one, row
		row = make([]int, len(y)+1)
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(one[j+1]+1, row[j]+1, one[j]+cost)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], two[j-1]+1)
			}
		}
	}
	return row[len(y)]
}
