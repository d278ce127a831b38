package main

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// terminal is how wide lines may be, and whether they may have colours.
type terminal struct {
	width  int
	colour bool
}

const (
	usualWidth  = 80 // of a terminal; what is no terminal is taken for one
	narrowWidth = 72 // below it tables have fewer columns
	leastWidth  = 40 // no line is made narrower
)

// terminalOf looks at what is written to. NO_COLOR keeps colours away, as in https://no-color.org.
func terminalOf(w io.Writer) terminal {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return terminal{width: usualWidth}
	}
	t := terminal{width: usualWidth, colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		t.width = max(width, leastWidth)
	}
	return t
}

func (t terminal) narrow() bool { return t.width < narrowWidth }

// The colours that are used, by their numbers in a terminal.
const (
	faint = "2"
	green = "32"
	bold  = "1"
)

// paint colours a text that has no colour yet.
func (t terminal) paint(colour, text string) string {
	if !t.colour || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// wrap breaks a text into lines at its blanks; the second one and those after it begin with indent.
func (t terminal) wrap(text, indent string) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > t.width:
			b.WriteString("\n" + indent)
			at = utf8.RuneCountInString(indent)
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}

// bar shows a part of a whole on at most most columns.
func (t terminal) bar(part, whole int64, most int) string {
	width := min(most, t.width)
	full := 0
	if whole > 0 {
		full = int(min(part, whole) * int64(width) / whole)
	}
	return t.paint(green, strings.Repeat("█", full)) + t.paint(faint, strings.Repeat("░", width-full))
}
