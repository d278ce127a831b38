package codec

import (
	"bytes"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message/jsontext"
)

// word reads true, false or null.
func (s *scanner) word() error {
	for _, w := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(s.src[s.pos:], []byte(w)) {
			s.pos += len(w)
			return nil
		}
	}
	return s.wanted("a value")
}

// number reads -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
func (s *scanner) number() error {
	start := s.pos
	s.accept('-')
	if s.accept('0') {
		if s.digits() > 0 {
			return s.errorf(start, "write it without them, or as a string", "a number has leading zeros")
		}
	} else if s.digits() == 0 {
		return s.wanted("a digit")
	}
	if s.accept('.') && s.digits() == 0 {
		return s.wanted("a digit after the decimal point")
	}
	if s.accept('e') || s.accept('E') {
		if !s.accept('+') {
			s.accept('-')
		}
		if s.digits() == 0 {
			return s.wanted("a digit of the exponent")
		}
	}
	return nil
}

func (s *scanner) digits() int {
	start := s.pos
	for s.pos < len(s.src) && s.src[s.pos] >= '0' && s.src[s.pos] <= '9' {
		s.pos++
	}
	return s.pos - start
}

// text reads a string.
func (s *scanner) text() error {
	start := s.pos
	s.pos++
	for s.pos < len(s.src) {
		if s.pos += plainLength(s.src[s.pos:]); s.pos == len(s.src) {
			break
		}
		switch c := s.src[s.pos]; {
		case c == '"':
			s.pos++
			return nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		case c < ' ':
			return s.errorf(s.pos, "write it as "+string(jsontext.AppendEscape(nil, c)),
				"a string holds the control character 0x%02x", c)
		default:
			r, n := utf8.DecodeRune(s.src[s.pos:])
			if r == utf8.RuneError && n == 1 {
				return utf8Error("json", s.src, s.pos)
			}
			s.pos += n
		}
	}
	return s.errorf(start, "the message was cut off, or a closing quote is missing", "the string does not end")
}

// plainLength counts the bytes before the first that is no ASCII character, or has a meaning in a string.
func plainLength(b []byte) int {
	for i, c := range b {
		if c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return i
		}
	}
	return len(b)
}

func (s *scanner) escape() error {
	if n := jsontext.Escape(s.src[s.pos:]); n > 0 {
		s.pos += n
		return nil
	}
	if bytes.HasPrefix(s.src[s.pos:], []byte(`\u`)) {
		return s.errorf(s.pos, "", `\u wants four hexadecimal digits`)
	}
	return s.errorf(s.pos, `write a backslash as \\`, "a backslash starts no escape here")
}

// appendUnquoted appends the text of a scanned JSON string's inside.
func appendUnquoted(dst, inside []byte) []byte {
	dst, _ = jsontext.Append(dst, inside) // its escapes are known
	return dst
}

// unquote returns the text of a scanned JSON string, quotes included in quoted.
func unquote(quoted []byte) string {
	inside := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inside, '\\') < 0 {
		return string(inside)
	}
	return string(appendUnquoted(make([]byte, 0, len(inside)), inside))
}
