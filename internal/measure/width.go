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
