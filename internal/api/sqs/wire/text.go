package wire

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message/jsontext"
)

// ValidText tells whether a message body or the value of a String attribute has only characters that SQS allows: those
// of XML 1.0, that is tab, line feed, carriage return, U+0020 to U+D7FF, U+E000 to U+FFFD and U+10000 to U+10FFFF, in
// UTF-8.
func ValidText[T string | []byte](text T) bool {
	const one, other = "\uFFFE", "\uFFFF"
	var valid bool
	switch text := any(text).(type) {
	case string:
		valid = utf8.ValidString(text) && !strings.Contains(text, one) && !strings.Contains(text, other)
	case []byte:
		valid = utf8.Valid(text) && !bytes.Contains(text, []byte(one)) && !bytes.Contains(text, []byte(other))
	}
	for valid {
		n := jsontext.Ordinary(text)
		if n == len(text) {
			break
		}
		if c := text[n]; c < ' ' && c != '\t' && c != '\n' && c != '\r' {
			return false
		}
		text = text[n+1:]
	}
	return valid
}
