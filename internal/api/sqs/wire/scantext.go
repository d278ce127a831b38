package wire

import (
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
		s.at += jsontext.Ordinary(s.data[s.at:])
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

// unescape appends a string's text to dst, with its escapes replaced.
func (s *scanner) unescape(dst, raw []byte) []byte {
	dst, err := jsontext.Append(dst, raw)
	if err != nil {
		s.malformed()
	}
	return dst
}
