package charset

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
)

// Set is a character set. It may be used by several goroutines.
type Set struct {
	Name string // as MySQL calls it
	// MaxBytes is how many bytes a letter takes at most.
	MaxBytes int

	table encoding.Encoding
	in    map[rune]rune      // after the table: what MySQL's table has in its place; 0: nothing
	out   map[rune]rune      // before the table, the other way; 0: nothing
	width func(byte) int     // bytes of the letter that begins with one beyond ASCII; nil: 1
	none  func([2]byte) bool // letters that the table has and MySQL's does not; nil: none

	unwritten func([2]byte) bool // letters that are read, and written otherwise; nil: none
	once      sync.Once
	twice     map[rune][]byte // how letters are written that the table would write as one of none or unwritten
}

// Named finds a set by MySQL's name for it, in any case. ok is false for one that clients cannot speak here; UTF-8 and binary need no conversion and are none either.
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

// Decode makes UTF-8 of a text. What is no text in the set is an *InvalidError. b stays as it is, and may be what is returned.
func (s *Set) Decode(b []byte) ([]byte, error) {
	if ascii(b) {
		return b, nil
	}
	text, err := s.table.NewDecoder().Bytes(b)
	if err != nil || bytes.ContainsRune(text, utf8.RuneError) || s.strange(b) {
		return s.slowly(b)
	}
	return replaced(text, s.in), nil
}

// strange tells whether there are letters that the table has and MySQL's does not.
func (s *Set) strange(b []byte) bool {
	if s.none == nil {
		return false
	}
	for at := 0; at < len(b); {
		n := 1
		if b[at] >= utf8.RuneSelf {
			n = s.width(b[at])
			letter := [2]byte{b[at]}
			if n > 1 && at+1 < len(b) {
				letter[1] = b[at+1]
			}
			if s.none(letter) {
				return true
			}
		}
		at += n
	}
	return false
}

// slowly decodes letter by letter, to find out which one is none.
func (s *Set) slowly(b []byte) ([]byte, error) {
	text := make([]byte, 0, len(b)+len(b)/2)
	decoder := s.table.NewDecoder()
	for at := 0; at < len(b); {
		n, letter := s.letter(decoder, b[at:])
		if n == 0 {
			return nil, &InvalidError{Set: s.Name, Bytes: b[at:min(at+6, len(b))]}
		}
		text = append(text, letter...)
		at += n
	}
	return replaced(text, s.in), nil
}

// letter decodes the first letter. n is 0 when it is none.
func (s *Set) letter(decoder *encoding.Decoder, b []byte) (n int, letter []byte) {
	if b[0] < utf8.RuneSelf {
		return 1, b[:1]
	}
	for n := 1; n <= min(s.MaxBytes, len(b)); n++ {
		decoder.Reset()
		letter, err := decoder.Bytes(b[:n])
		if err == nil && utf8.RuneCount(letter) == 1 && !bytes.ContainsRune(letter, utf8.RuneError) {
			if s.strange(b[:n]) {
				return 0, nil
			}
			return n, letter
		}
	}
	if s.control(rune(b[0])) {
		return 1, utf8.AppendRune(nil, rune(b[0]))
	}
	return 0, nil
}

// otherwise tells whether a letter is read and written otherwise.
func (s *Set) otherwise(b []byte) bool {
	return s.unwritten != nil && len(b) == 2 && s.unwritten([2]byte(b))
}

// again finds another way to write a letter than the table's.
func (s *Set) again(r rune) (b []byte, ok bool) {
	s.once.Do(func() {
		s.twice = map[rune][]byte{}
		s.learn(nil)
		if s.MaxBytes == 3 {
			s.learn([]byte{0x8F}) // what EUC-JP has of JIS X 0212
		}
	})
	b, ok = s.twice[r]
	return b, ok
}

// learn looks through the letters of two bytes behind a prefix for those that the table writes as others, which may not be written.
func (s *Set) learn(prefix []byte) {
	decoder, encoder := s.table.NewDecoder(), s.table.NewEncoder()
	for lead := 0x81; lead < 0xFF; lead++ {
		for trail := 0x40; trail < 0xFF; trail++ {
			b := append(slices.Clip(prefix), byte(lead), byte(trail))
			decoder.Reset()
			letter, err := decoder.Bytes(b)
			if err != nil || utf8.RuneCount(letter) != 1 || s.strange(b) || s.otherwise(b) {
				continue
			}
			encoder.Reset()
			if back, err := encoder.Bytes(letter); err == nil && (s.strange(back) || s.otherwise(back)) {
				r, _ := utf8.DecodeRune(letter)
				s.twice[r] = b
			}
		}
	}
}

// control tells whether a byte that the table leaves open is the control character of that number, so that it comes back as it was.
func (s *Set) control(r rune) bool {
	return s.MaxBytes == 1 && s.table != sevenBits && r >= 0x80 && r < 0xA0
}

// Encode makes the set's text of UTF-8. What the set lacks, and what is no UTF-8, becomes "?". b stays as it is, and may be what is returned.
func (s *Set) Encode(b []byte) []byte {
	if ascii(b) && s.out['\\'] == 0 {
		return b
	}
	encoder := s.table.NewEncoder()
	if s.table != sevenBits && !bytes.ContainsFunc(b, func(r rune) bool { _, other := s.out[r]; return other || r == utf8.RuneError }) {
		if out, err := encoder.Bytes(b); err == nil && s.unwritten == nil && !s.strange(out) {
			return out
		}
	}
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		letter := b[:n]
		b = b[n:]
		if other, ok := s.out[r]; ok {
			if r = other; other == 0 {
				r = utf8.RuneError
			}
			letter = utf8.AppendRune(nil, r)
		}
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
			continue
		}
		if r == utf8.RuneError {
			out = append(out, '?')
			continue
		}
		encoder.Reset()
		got, err := encoder.Bytes(letter)
		switch {
		case err != nil && s.control(r):
			got = []byte{byte(r)}
		case err != nil || s.table == sevenBits || len(got) > s.MaxBytes:
			got = []byte{'?'}
		case s.strange(got) || s.otherwise(got):
			if other, ok := s.again(r); ok {
				got = other
			} else {
				got = []byte{'?'}
			}
		}
		out = append(out, got...)
	}
	return out
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// replaced puts MySQL's letters in the place of the table's.
func replaced(text []byte, by map[rune]rune) []byte {
	if len(by) == 0 {
		return text
	}
	return bytes.Map(func(r rune) rune {
		if other, ok := by[r]; ok {
			return other
		}
		return r
	}, text)
}
