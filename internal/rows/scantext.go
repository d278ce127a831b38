package rows

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
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
		if _, ok := hex4(s[2:]); ok {
			return 6
		}
	}
	return 0
}

func hex4(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var r rune
	for i := range 4 {
		c := s[i]
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

var errSurrogate = errors.New("has half of a surrogate pair, which is no character")

// unescape reads the escapes of a string that was scanned.
func unescape(s string) (string, error) {
	at := strings.IndexByte(s, '\\')
	if at < 0 {
		return s, nil
	}
	b := make([]byte, 0, len(s))
	for at >= 0 {
		b = append(b, s[:at]...)
		c := s[at+1]
		s = s[at+2:]
		switch c {
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			r, _ := hex4(s)
			s = s[4:]
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if strings.HasPrefix(s, `\u`) {
					low, ok = hex4(s[2:])
				}
				if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
					return "", errSurrogate
				}
				s = s[6:]
			}
			b = utf8.AppendRune(b, r)
		default:
			b = append(b, c)
		}
		at = strings.IndexByte(s, '\\')
	}
	return string(append(b, s...)), nil
}
