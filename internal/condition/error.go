package condition

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// Error says what is wrong with a condition's text and where. Every error of this package is one.
type Error struct {
	Text    string // the whole condition
	Offset  int    // byte in Text at which it went wrong; len(Text) when the text ended too early
	Line    int    // from 1
	Column  int    // in characters, from 1
	Message string // what is wrong
	Hint    string // what to do about it; "" when there is nothing to suggest
}

func newError(text string, offset int, hint, format string, args ...any) *Error {
	offset = min(max(offset, 0), len(text))
	before := text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return &Error{
		Text:    text,
		Offset:  offset,
		Line:    strings.Count(before, "\n") + 1,
		Column:  utf8.RuneCountInString(before[start:]) + 1,
		Message: fmt.Sprintf(format, args...),
		Hint:    hint,
	}
}

// Error is the one-line form.
func (e *Error) Error() string {
	s := fmt.Sprintf("condition, line %d, column %d: %s", e.Line, e.Column, e.Message)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Pretty is the form for a terminal: the message, the line it is about and a caret below the place.
//
//	unknown name "lnag"
//	    enqueued_at >= 1501686146 and lnag = 'ja'
//	                                  ^ did you mean "lang"?
func (e *Error) Pretty() string {
	start := strings.LastIndexByte(e.Text[:e.Offset], '\n') + 1
	before := e.Text[start:e.Offset]
	after, _, _ := strings.Cut(e.Text[e.Offset:], "\n")
	var b strings.Builder
	b.WriteString(e.Message)
	if strings.Contains(e.Text, "\n") {
		fmt.Fprintf(&b, " (line %d)", e.Line)
	}
	b.WriteString("\n" + measure.Pointed("    ", "    ", before, after))
	if e.Hint != "" {
		b.WriteString(" " + e.Hint)
	}
	return b.String()
}
