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
			n := escape(src[i:])
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

// escape is the length of the escape at the beginning of s, 0 when it is none.
func escape(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := jsontext.Hex(s[2:]); ok {
			return 6
		}
	}
	return 0
}

var errSurrogate = jsontext.ErrSurrogate

// unescape reads the escapes of a string that was scanned.
func unescape(s string) (string, error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	b := []byte(s)
	b, err := jsontext.Append(b[:0], b)
	if err != nil {
		return "", err
	}
	return string(b), nil
}
