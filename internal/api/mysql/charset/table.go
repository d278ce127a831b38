package charset

import (
	"unicode/utf8"

	"golang.org/x/text/encoding"
)

// code is a letter's bytes as a number, the last of them lowest. No set has a letter of several bytes that begins with
// a zero.
type code uint32

func appendCode(b []byte, c code) []byte {
	switch {
	case c > 0xFFFF:
		return append(b, byte(c>>16), byte(c>>8), byte(c))
	case c > 0xFF:
		return append(b, byte(c>>8), byte(c))
	}
	return append(b, byte(c))
}

// single is the byte before the letters of three bytes in EUC-JP, "single shift 3".
const single = 0x8F

// table is a set, to be looked up. It is not changed once it was made. The letters of these sets are in Unicode's first
// plane.
type table struct {
	one   [256]uint16
	two   []uint16 // by both bytes; nil: there are none
	three []uint16 // by the bytes behind single; nil: there are none
	back  []code   // by the letter; 0: the set lacks it

	whole encoding.Encoding // in place of all that: of letters of four bytes
}

// decode reads the letter that b begins with, which is not of ASCII. n is 0 when it is none.
func (t *table) decode(b []byte) (r rune, n int) {
	if t.whole != nil {
		return t.wholly(b)
	}
	if r := t.one[b[0]]; r != 0 {
		return rune(r), 1
	}
	if t.three != nil && b[0] == single && len(b) > 2 {
		if r := t.three[int(b[1])<<8|int(b[2])]; r != 0 {
			return rune(r), 3
		}
		return 0, 0
	}
	if t.two != nil && len(b) > 1 {
		if r := t.two[int(b[0])<<8|int(b[1])]; r != 0 {
			return rune(r), 2
		}
	}
	return 0, 0
}

// wholly is decode by a library, a letter at a time.
func (t *table) wholly(b []byte) (r rune, n int) {
	decoder := t.whole.NewDecoder()
	for n := 1; n <= min(4, len(b)); n++ {
		if letter, err := decoder.Bytes(b[:n]); err == nil && utf8.RuneCount(letter) == 1 {
			if r, _ := utf8.DecodeRune(letter); r != utf8.RuneError {
				return r, n
			}
		}
	}
	return 0, 0
}

// encode appends a letter that is not of ASCII, or "?".
func (t *table) encode(out []byte, r rune) []byte {
	switch {
	case t.whole != nil:
		if b, err := t.whole.NewEncoder().Bytes(utf8.AppendRune(nil, r)); err == nil && r != utf8.RuneError {
			return append(out, b...)
		}
	case int(r) < len(t.back) && t.back[r] != 0:
		return appendCode(out, t.back[r])
	}
	return append(out, '?')
}

// source is what a table is made of: one of golang.org/x/text, and what MySQL's has otherwise.
type source struct {
	base     encoding.Encoding
	maxBytes int
	trails   [][2]byte // which bytes may be a letter's second, for ranges; nil: from A1 to FE
	edits    []edit    // in their order
	unused   [][2]code // letters that are read, and written in another way that the set has
	// backslash is how a backslash is written; 0: as in ASCII.
	backslash code
}

// edit has letters that follow each other in the set be letters that follow each other in Unicode. What is cut off is
// not there any more.
type edit struct {
	from  code
	count int
	to    rune // 0: cut them off
}

func (s *source) table() *table {
	t := &table{back: make([]code, 1<<16)}
	if s.maxBytes > 3 {
		t.whole = s.base
		return t
	}
	s.read(t)
	for _, e := range s.edits {
		c := e.from
		for i := range e.count {
			r := rune(0)
			if e.to != 0 {
				r = e.to + rune(i)
			}
			t.set(c, r)
			c = s.next(c)
		}
	}
	if s.maxBytes == 1 && s.base != nil {
		// a byte that the set leaves open is the control character of that number, so that it comes back as it was
		for b := 0x80; b < 0xA0; b++ {
			if t.one[b] == 0 {
				t.one[b] = uint16(b)
			}
		}
	}
	s.turn(t)
	return t
}

// read reads every letter of the base.
func (s *source) read(t *table) {
	if s.base == nil {
		return
	}
	decoder := s.base.NewDecoder()
	learn := func(b ...byte) {
		decoder.Reset()
		letter, err := decoder.Bytes(b)
		if r, n := utf8.DecodeRune(letter); err == nil && n == len(letter) && r != utf8.RuneError && r <= 0xFFFF {
			t.set(codeOf(b), r)
		}
	}
	if s.maxBytes > 1 {
		t.two = make([]uint16, 1<<16)
	}
	if s.maxBytes > 2 {
		t.three = make([]uint16, 1<<16)
	}
	for first := 0x80; first < 0x100; first++ {
		learn(byte(first))
		for second := 0; s.maxBytes > 1 && second < 0x100; second++ {
			if t.one[first] == 0 {
				learn(byte(first), byte(second))
			}
			if s.maxBytes > 2 {
				learn(single, byte(first), byte(second))
			}
		}
	}
}

func codeOf(b []byte) (c code) {
	for _, x := range b {
		c = c<<8 | code(x)
	}
	return c
}

func (t *table) set(c code, r rune) {
	switch {
	case c > 0xFFFF:
		t.three[c&0xFFFF] = uint16(r)
	case c > 0xFF:
		t.two[c] = uint16(r)
	default:
		t.one[c] = uint16(r)
	}
}

// next is the code behind another one.
func (s *source) next(c code) code {
	if c <= 0xFF {
		return c + 1
	}
	trails := s.trails
	if trails == nil {
		trails = [][2]byte{{0xA1, 0xFE}}
	}
	for i, span := range trails {
		switch trail := byte(c); {
		case trail < span[0] || trail > span[1]:
		case trail < span[1]:
			return c + 1
		case i+1 < len(trails):
			return c&^0xFF | code(trails[i+1][0])
		}
	}
	return c&^0xFF + 0x100 | code(trails[0][0])
}

// turn finds how each letter is written: as the base does if that is read as the letter, else in the first way that is.
func (s *source) turn(t *table) {
	all := func(letters []uint16, prefix code) {
		for i, r := range letters {
			if c := prefix | code(i); r >= utf8.RuneSelf && t.back[r] == 0 && !s.isUnused(c) {
				t.back[r] = c
			}
		}
	}
	if s.base != nil {
		encoder := s.base.NewEncoder()
		for r := rune(utf8.RuneSelf); r < 1<<16; r++ {
			encoder.Reset()
			b, err := encoder.Bytes(utf8.AppendRune(nil, r))
			if err != nil || len(b) > s.maxBytes || s.isUnused(codeOf(b)) {
				continue
			}
			if back, n := t.decode(b); n == len(b) && back == r {
				t.back[r] = codeOf(b)
			}
		}
	}
	all(t.one[:], 0)
	all(t.two, 0)
	all(t.three, single<<16)
}

func (s *source) isUnused(c code) bool {
	for _, span := range s.unused {
		if span[0] <= c && c <= span[1] {
			return true
		}
	}
	return false
}
