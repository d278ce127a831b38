package measure

import (
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// cells counts how many columns of a terminal a text takes. Characters of ambiguous width count one, as terminals draw
// them unless they were told otherwise, so that output does not depend on the reader's locale.
func cells(s string) int {
	var c runewidth.Condition
	return c.StringWidth(s)
}

// cut shortens a text to so many columns, ending it with "…" if it had to.
func cut(s string, width int) string {
	var c runewidth.Condition
	if width <= 0 {
		return ""
	}
	return c.Truncate(s, width, "…")
}

// plain makes a text safe for one line of a terminal: control characters, line ends among them, become blanks.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Line makes a text one line of a terminal that has so many columns.
func Line(s string, width int) string { return cut(plain(s), width) }

// pointedWidth is how many columns of a terminal a line takes that Pointed shows.
const pointedWidth = 100

// Pointed shows a line of a text, that before a place and that behind it, and a caret under the place: two lines, each
// behind a margin of its own. Of a long line it shows what stands around the place.
func Pointed(margin, below, before, after string) string {
	before, after = printable(before), printable(after)
	var c runewidth.Condition
	if w := cells(before); w > pointedWidth*2/3 {
		before = c.TruncateLeft(before, w-pointedWidth/2, "…")
	}
	after = cut(after, max(pointedWidth-cells(before), 10))
	return margin + before + after + "\n" + below + strings.Repeat(" ", cells(before)) + "^"
}

// printable makes a line safe to show: every control character takes one column, as does a byte that is no UTF-8.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < ' ' || r == 0x7f:
			return '·'
		}
		return r
	}, s)
}

func pad(s string, width int, a Align) string {
	n := width - cells(s)
	if n <= 0 {
		return s
	}
	if a == Right {
		return strings.Repeat(" ", n) + s
	}
	return s + strings.Repeat(" ", n)
}
