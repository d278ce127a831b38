package wire

import (
	"bytes"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// span takes a string and returns what stands between its quotes, which is valid UTF-8; plain says that it has no
// escapes.
func (s *scanner) span() (raw []byte, plain bool) {
	s.at++
	from := s.at
	plain = true
	for {
		s.at += ordinary(s.data[s.at:])
		if s.at >= len(s.data) {
			s.malformed()
			return nil, false
		}
		switch s.data[s.at] {
		case '"':
			raw = s.data[from:s.at]
			if !utf8.Valid(raw) {
				s.fail("The request has a string that is not valid UTF-8")
				return nil, false
			}
			s.at++
			return raw, plain
		case '\\':
			plain = false
			s.at = min(s.at+2, len(s.data)) // what stands behind is checked when it is unescaped
		default:
			s.malformed()
			return nil, false
		}
	}
}

const (
	each    = 0x0101010101010101
	tops    = 0x8080808080808080
	quotes  = each * '"'
	slashes = each * '\\'
	spaces  = each * ' '
)

// ordinary counts the bytes at the beginning that stand in a JSON string as they are: all but control characters, " and
// \. It looks at eight at a time.
func ordinary[T string | []byte](data T) int {
	n := 0
	for ; n+8 <= len(data); n += 8 {
		word := uint64(data[n]) | uint64(data[n+1])<<8 | uint64(data[n+2])<<16 | uint64(data[n+3])<<24 |
			uint64(data[n+4])<<32 | uint64(data[n+5])<<40 | uint64(data[n+6])<<48 | uint64(data[n+7])<<56
		// The top bit of a byte becomes set where the byte is special: less than a space, because taking a space away
		// borrows; a quote or a backslash, because the difference is zero. A borrow can mark a byte behind a marked
		// one, never one before.
		q, b := word^quotes, word^slashes
		if marked := ((word-spaces)&^word | (q-each)&^q | (b-each)&^b) & tops; marked != 0 {
			return n + bits.TrailingZeros64(marked)/8
		}
	}
	for ; n < len(data); n++ {
		if c := data[n]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return n
}

// unescape appends a string's text to dst, with its escapes replaced.
func (s *scanner) unescape(dst, raw []byte) []byte {
	for {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:n]...)
		raw = raw[n+1:]
		if len(raw) == 0 {
			s.malformed()
			return dst
		}
		c := raw[0]
		raw = raw[1:]
		switch c {
		case '"', '\\', '/':
			dst = append(dst, c)
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
			r, ok := hex4(raw)
			if !ok {
				s.malformed()
				return dst
			}
			raw = raw[4:]
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
					low, ok = hex4(raw[2:])
				}
				if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
					s.fail("The request has a string with half of a surrogate pair")
					return dst
				}
				raw = raw[6:]
			}
			dst = utf8.AppendRune(dst, r)
		default:
			s.malformed()
			return dst
		}
	}
}

// hex4 reads the four digits of a \u.
func hex4(raw []byte) (rune, bool) {
	if len(raw) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range raw[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
