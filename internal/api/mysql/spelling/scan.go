package spelling

import "strings"

// A kind of token.
type kind byte

const (
	end    kind = iota // of the text
	word               // letters, digits and the like
	quoted             // a literal in ' or "
	sign               // one byte of anything else, and a name in backquotes
)

// token is a part of a text, from its byte at to the one before end.
type token struct {
	kind    kind
	at, end int
}

// scanner finds the tokens of a text, one after another. A copy of it looks ahead.
type scanner struct {
	text    string
	at      int
	escapes bool // a backslash escapes in literals
}

// next is the next token; blanks and comments are none.
func (s *scanner) next() token {
	s.skip()
	t := token{at: s.at}
	switch {
	case s.at >= len(s.text):
		t.end = s.at
		return t
	case isWord(s.text[s.at]):
		t.kind = word
		for s.at < len(s.text) && isWord(s.text[s.at]) {
			s.at++
		}
	case s.text[s.at] == '\'' || s.text[s.at] == '"':
		t.kind = quoted
		s.quote()
	case s.text[s.at] == '`':
		t.kind = sign
		s.quote()
	default:
		t.kind = sign
		s.at++
	}
	t.end = s.at
	return t
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '_' || c == '$' || c == '@' || c >= 0x80
}

// quote passes what stands in quotes. A doubled quote opens it again at once.
func (s *scanner) quote() {
	mark := s.text[s.at]
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '\\' && s.escapes && mark != '`':
			s.at++
		case c != mark:
		case s.at+1 < len(s.text) && s.text[s.at+1] == mark:
			s.at++
		default:
			s.at++
			return
		}
	}
	s.at = len(s.text) // it has no end, or a backslash was the last byte
}

// skip passes blanks and comments, and the beginning of a comment that MySQL reads.
func (s *scanner) skip() {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch {
		case strings.IndexByte(" \t\r\n\f\v", rest[0]) >= 0:
			s.at++
		case strings.HasPrefix(rest, "/*!"):
			for s.at += len("/*!"); s.at < len(s.text) && '0' <= s.text[s.at] && s.text[s.at] <= '9'; s.at++ {
			}
		case strings.HasPrefix(rest, "/*"):
			s.past("*/", len("/*"))
		case rest[0] == '#', strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' '):
			s.past("\n", 1)
		default:
			return
		}
	}
}

// past passes what is there up to a mark, and the mark; all of the text if there is none.
func (s *scanner) past(mark string, from int) {
	if i := strings.Index(s.text[s.at+from:], mark); i >= 0 {
		s.at += from + i + len(mark)
	} else {
		s.at = len(s.text)
	}
}
