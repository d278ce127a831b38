package docs

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

// A wide character takes two cells of a terminal, and an editor shows a table as one only if its columns are filled up
// accordingly.
func TestTheTablesOfTheJapanesePageAlign(t *testing.T) {
	p := readPage(t, filepath.Join(root, "README.ja.md"))
	tables := 0
	var columns []int
	for i, line := range prose(p) {
		if cellsOf(line) == nil {
			columns = nil
			continue
		}
		here := bars(line)
		if columns == nil {
			columns = here
			tables++
			continue
		}
		if !slices.Equal(columns, here) {
			t.Errorf("%s:%d: the columns of this line end at %v, those of the first at %v", p.path, i+1, here, columns)
		}
	}
	if tables == 0 {
		t.Error("there is no table")
	}
}

// bars are the cells of a terminal at which the columns of a table's line end.
func bars(line string) (at []int) {
	var c runewidth.Condition // as terminals do that were not told of East Asian widths
	width := 0
	for _, r := range strings.ReplaceAll(line, `\|`, "xx") {
		if r == '|' {
			at = append(at, width)
		}
		width += c.RuneWidth(r)
	}
	return at
}
