package codec

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Error says why a body cannot be decoded. Every error of decoding is one; those of New are *component.SettingError.
type Error struct {
	Codec   string // "json", "csv", …
	Field   string // the field, column or group it is about; "" when it is about the record
	Offset  int    // byte in the body; -1 when no single place is to blame
	Line    int    // of Offset, from 1; 0 without one
	Column  int    // of Offset, in characters from 1; 0 without one
	Message string // what is wrong
	Hint    string // what to do; "" when Message says it
}

// Error is the one-line form: codec, field, place, what, and what to do.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Codec)
	if e.Field != "" {
		b.WriteString(": field " + quote(e.Field))
	}
	if e.Line > 1 {
		fmt.Fprintf(&b, ": line %d, character %d", e.Line, e.Column)
	} else if e.Line == 1 {
		fmt.Fprintf(&b, ": character %d", e.Column)
	}
	b.WriteString(": " + e.Message)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// at fills in the place, given the body that Offset counts in.
func (e *Error) at(body []byte) *Error {
	if e.Offset < 0 {
		return e
	}
	e.Offset = min(e.Offset, len(body))
	before := body[:e.Offset]
	e.Line = bytes.Count(before, []byte("\n")) + 1
	e.Column = utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return e
}

// quoteMax is how many bytes of a body an error shows.
const quoteMax = 40

// quote shows a piece of a body in an error: short, printable, in quotes.
func quote[T string | []byte](text T) string {
	s := string(text[:min(len(text), quoteMax+utf8.UTFMax)])
	if len(text) <= quoteMax {
		return strconv.Quote(s)
	}
	return strconv.Quote(message.Beginning(s, quoteMax)) + "…"
}

// invalidUTF8 returns the offset of the first byte that is no UTF-8, -1 when there is none.
func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

const utf8Hint = "hikyaku reads UTF-8; convert the text first, or use the codec bytes"

func utf8Error(codec string, body []byte, offset int) *Error {
	return (&Error{Codec: codec, Offset: offset,
		Message: fmt.Sprintf("the byte 0x%02x is not valid UTF-8", body[offset]), Hint: utf8Hint}).at(body)
}
