package charset

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// Set is a character set. It may be used by several goroutines.
type Set struct {
	Name string // as MySQL calls it
	// MaxBytes is how many bytes a letter takes at most.
	MaxBytes int

	from  source
	once  sync.Once
	known *table // made when it is first needed
}

// Named finds a set by MySQL's name for it, in any case. ok is false for one that clients cannot speak here; UTF-8 and
// binary need no conversion and are none either.
func Named(name string) (set *Set, ok bool) {
	set, ok = sets[strings.ToLower(name)]
	return set, ok
}

// InvalidError tells which bytes are no text in a set.
type InvalidError struct {
	Set   string
	Bytes []byte // the first of them
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("Invalid %s character string: '%s'", e.Set, strings.ToUpper(fmt.Sprintf("%x", e.Bytes)))
}

func (s *Set) table() *table {
	s.once.Do(func() { s.known = s.from.table() })
	return s.known
}

// Decode makes UTF-8 of a text. What is no text in the set is an *InvalidError. b stays as it is, and may be what is
// returned.
func (s *Set) Decode(b []byte) ([]byte, error) {
	at := asciiPrefix(b)
	if at == len(b) {
		return b, nil
	}
	t := s.table()
	text := append(make([]byte, 0, len(b)+len(b)/2), b[:at]...)
	for at < len(b) {
		if b[at] < utf8.RuneSelf {
			text = append(text, b[at])
			at++
			continue
		}
		r, n := t.decode(b[at:])
		if n == 0 {
			return nil, &InvalidError{Set: s.Name, Bytes: b[at:min(at+6, len(b))]}
		}
		text = utf8.AppendRune(text, r)
		at += n
	}
	return text, nil
}

// Encode makes the set's text of UTF-8. What the set lacks, and what is no UTF-8, becomes "?". b stays as it is, and
// may be what is returned.
func (s *Set) Encode(b []byte) []byte {
	at := asciiPrefix(b)
	if at == len(b) && s.from.backslash == 0 {
		return b
	}
	t := s.table()
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		b = b[n:]
		switch {
		case r == '\\' && s.from.backslash != 0:
			out = appendCode(out, s.from.backslash)
		case r < utf8.RuneSelf:
			out = append(out, byte(r))
		default:
			out = t.encode(out, r)
		}
	}
	return out
}

// asciiPrefix is how many bytes come before the first that is beyond ASCII.
func asciiPrefix(b []byte) int {
	for i, c := range b {
		if c >= utf8.RuneSelf {
			return i
		}
	}
	return len(b)
}
