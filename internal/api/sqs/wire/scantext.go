package wire

import (
	"math/bits"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message/jsontext"
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
	dst, err := jsontext.Append(dst, raw)
	if err != nil {
		s.malformed()
	}
	return dst
}
