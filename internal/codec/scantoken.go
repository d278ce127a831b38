package codec

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
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
			return s.errorf(s.pos, "write it as "+controlEscape(c), "a string holds the control character 0x%02x", c)
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

func controlEscape(c byte) string {
	switch c {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	default:
		return string(appendControl(nil, c))
	}
}

func appendControl(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

func (s *scanner) escape() error {
	if s.pos+1 < len(s.src) {
		switch s.src[s.pos+1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			s.pos += 2
			return nil
		case 'u':
			if s.pos+6 <= len(s.src) && isHex(s.src[s.pos+2:s.pos+6]) {
				s.pos += 6
				return nil
			}
			return s.errorf(s.pos, "", `\u wants four hexadecimal digits`)
		}
	}
	return s.errorf(s.pos, `write a backslash as \\`, "a backslash starts no escape here")
}

func isHex(b []byte) bool {
	for _, c := range b {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return false
		}
	}
	return true
}

// appendUnquoted appends the text of a scanned JSON string's inside. Half of a surrogate pair becomes U+FFFD.
func appendUnquoted(dst, inside []byte) []byte {
	for {
		i := bytes.IndexByte(inside, '\\')
		if i < 0 {
			return append(dst, inside...)
		}
		dst = append(dst, inside[:i]...)
		c := inside[i+1]
		inside = inside[i+2:]
		switch c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := hexRune(inside)
			inside = inside[4:]
			if utf16.IsSurrogate(r) {
				low := rune(utf8.RuneError)
				if len(inside) >= 6 && inside[0] == '\\' && inside[1] == 'u' {
					low = hexRune(inside[2:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					inside = inside[6:]
				}
			}
			dst = utf8.AppendRune(dst, r)
		default: // " \ /
			dst = append(dst, c)
		}
	}
}

func hexRune(b []byte) rune {
	u, _ := strconv.ParseUint(string(b[:4]), 16, 16) // scanned: four hexadecimal digits
	return rune(u)
}

// unquote returns the text of a scanned JSON string, quotes included in quoted.
func unquote(quoted []byte) string {
	inside := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inside, '\\') < 0 {
		return string(inside)
	}
	return string(appendUnquoted(make([]byte, 0, len(inside)), inside))
}

// appendQuoted appends text as a JSON string. The text must be valid UTF-8.
func appendQuoted(dst []byte, text string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, text[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n', '\r', '\t':
			dst = append(dst, controlEscape(c)...)
		default:
			dst = appendControl(dst, c)
		}
	}
	dst = append(dst, text[start:]...)
	return append(dst, '"')
}
