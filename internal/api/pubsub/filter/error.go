package filter

import (
	"fmt"
	"unicode/utf8"
)

// Error says what is wrong with a filter and where. Every error of this package is one.
type Error struct {
	Text     string // the whole filter
	Offset   int    // byte in Text at which it went wrong, from 0; len(Text) when the filter ended too early
	Message  string // what is wrong there
	Expected string // what could have stood there; "" where nothing could
	Hint     string // what to do about it; "" when there is nothing to suggest
}

func (e *Error) Error() string {
	s := fmt.Sprintf("filter, byte %d: %s", e.Offset, e.Message)
	if e.Expected != "" {
		s += "; expected " + e.Expected
	}
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// wrong makes an error at a place of the filter.
func (p *parser) wrong(offset int, message, expected, hint string) *Error {
	return &Error{Text: p.text, Offset: offset, Message: message, Expected: expected, Hint: hint}
}

// unexpected is the error for what stands at the present place.
func (p *parser) unexpected(expected, hint string) *Error {
	if p.pos == len(p.text) {
		return p.wrong(p.pos, "the filter ends here", expected, hint)
	}
	return p.wrong(p.pos, "unexpected "+p.found(), expected, hint)
}

// found is the word or character at the present place, for messages.
func (p *parser) found() string {
	rest := p.text[p.pos:]
	n := keyLength(rest)
	if n == 0 {
		_, n = utf8.DecodeRuneInString(rest)
	}
	const most = 40 // bytes, all of them ASCII where n can be so large
	if n > most {
		return fmt.Sprintf("%q…", rest[:most])
	}
	return fmt.Sprintf("%q", rest[:n])
}
