package rows

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message/jsontext"
)

// text reads a string.
func (s *scanner) text() (token, error) {
	src, start, i := s.src, s.pos+1, s.pos+1
	t, high := token{form: plain}, byte(0)
	for {
		if i >= len(src) {
			s.pos = len(src)
			return token{}, s.wrong("the end of a string")
		}
		c := src[i]
		switch {
		case c == '"':
			t.text = src[start:i]
			s.pos = i + 1
			if high >= utf8.RuneSelf && !utf8.ValidString(t.text) {
				return token{}, fmt.Errorf("%w: the string at byte %d is no valid UTF-8", errNoJSON, start-1)
			}
			return t, nil
		case c == '\\':
			t.form = escaped
			n := jsontext.Escape(src[i:])
			if n == 0 {
				s.pos = i
				return token{}, s.wrong("an escape that JSON knows")
			}
			i += n
		case c < ' ':
			s.pos = i
			return token{}, s.wrong("a character of a string")
		default:
			high |= c
			i++
		}
	}
}

// unescape reads the escapes of a string that was scanned.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := []byte(s)
	b, _ = jsontext.Append(b[:0], b) // its escapes are known
	return string(b)
}
