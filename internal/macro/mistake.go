package macro

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	eastasia "golang.org/x/text/width"
)

// Mistake is something in a text that cannot be meant.
type Mistake struct {
	Line   int    `json:"line"`   // from 1
	Column int    `json:"column"` // from 1, in characters
	Length int    `json:"length"` // in characters, at least 1
	Text   string `json:"text"`   // what is wrong
	Hint   string `json:"hint"`   // what to do; may be empty
}

// Error is the mistake on one line.
func (m Mistake) Error() string {
	text := fmt.Sprintf("line %d, column %d: %s", m.Line, m.Column, m.Text)
	if m.Hint != "" {
		text += " (" + m.Hint + ")"
	}
	return text
}

// Mistakes are all that is wrong with a text, in its order, but at most MaxTold of them and one that says how many more
// there are.
type Mistakes []Mistake

// Error is all of them, a line each.
func (ms Mistakes) Error() string {
	lines := make([]string, len(ms))
	for i, m := range ms {
		lines[i] = m.Error()
	}
	return strings.Join(lines, "\n")
}

// Pretty shows each mistake below its line of the text, for people. name is what the text is called, usually a file.
func (ms Mistakes) Pretty(name string, text []byte) string {
	lines := splitLines(text)
	var b strings.Builder
	for _, m := range ms {
		fmt.Fprintf(&b, "%s:%d:%d: %s\n", name, m.Line, m.Column, m.Text)
		if m.Line >= 1 && m.Line <= len(lines) {
			line := visible(lines[m.Line-1])
			runes := []rune(line)
			if before := m.Column - 1; before <= len(runes) && len(runes) <= widest {
				pad := strings.Map(wide, string(runes[:before]))
				mark := strings.Repeat("^", width(runes[before:min(len(runes), before+m.Length)]))
				fmt.Fprintf(&b, "  %s\n  %s%s\n", line, pad, mark)
			}
		}
		if m.Hint != "" {
			fmt.Fprintf(&b, "  %s\n", m.Hint)
		}
	}
	return b.String()
}

// widest is the longest line that is shown below a mistake.
const widest = 200

// visible is a line without what would move what stands below it.
func visible(line string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, line)
}

// cells counts the columns that terminals give a letter: two for most of East Asia's, none for marks on others. Those
// of ambiguous width, arrows among them, take one, as terminals draw them unless told otherwise.
func cells(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch eastasia.LookupRune(r).Kind() {
	case eastasia.EastAsianWide, eastasia.EastAsianFullwidth:
		return 2
	}
	return 1
}

// wide is a blank as wide as r.
func wide(r rune) rune {
	switch cells(r) {
	case 0:
		return -1
	case 1:
		return ' '
	}
	return '\u3000'
}

func width(runes []rune) int {
	n := 0
	for _, r := range runes {
		n += cells(r)
	}
	return max(n, 1)
}

// finder gathers mistakes.
type finder struct {
	found Mistakes
	more  int
}

func (f *finder) add(line, column, length int, text, hint string) {
	if len(f.found) == MaxTold {
		f.more++
		return
	}
	f.found = append(f.found, Mistake{line, column, max(length, 1), text, hint})
}

// err is what was found; nil if nothing was.
func (f *finder) err() error {
	slices.SortStableFunc(f.found,
		func(a, b Mistake) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
	switch {
	case len(f.found) == 0:
		return nil
	case f.more > 0:
		last := f.found[len(f.found)-1]
		return append(f.found, Mistake{last.Line, last.Column, 1,
			fmt.Sprintf("and %d more mistakes after these", f.more), ""})
	}
	return f.found
}
