package condition

import (
	"strings"
	"unicode/utf8"
)

// pattern is a like pattern: the pieces between its %. The first stands at the beginning of a text and the last at its
// end; of one alone that is the same text. Others are not empty.
type pattern struct {
	pieces []piece
}

// piece is what a text has to have without a gap.
type piece struct {
	literal string  // all of it where there is no _, else what comes before the first
	chars   []int32 // all of it where there is a _; nil: there is none
	finder  *finder // of a piece with a _ that may stand anywhere
}

// anyChar is _. A byte that is no UTF-8 is a character for itself, below anyChar.
const anyChar = -1

// nextChar is the first character of a text, which is not empty, and how many bytes it has.
func nextChar(s string) (c int32, size int) {
	r, size := utf8.DecodeRuneInString(s)
	return charOf(r, size, s[0]), size
}

func charOf(r rune, size int, b byte) int32 {
	if r == utf8.RuneError && size == 1 {
		return anyChar - 1 - int32(b)
	}
	return r
}

// compilePattern reads a pattern. An escape character makes the character after it literal; at the very end it stands
// for itself. The pattern is nil if one of its pieces is longer than MaxWild allows.
func compilePattern(text, escape string) *pattern {
	p := &pattern{}
	var literal []byte
	var chars []int32
	wild := false
	flush := func(last bool) (ok bool) {
		if len(chars) == 0 && len(p.pieces) > 0 && !last {
			return true // %%
		}
		one := piece{literal: string(literal)}
		if wild {
			one.chars = chars
			if middle := len(p.pieces) > 0 && !last; middle {
				if len(chars) > MaxWild {
					return false
				}
				one.finder = newFinder(chars)
			}
		}
		p.pieces = append(p.pieces, one)
		literal, chars, wild = literal[:0], nil, false
		return true
	}
	for len(text) > 0 {
		escaped := escape != "" && strings.HasPrefix(text, escape) && len(text) > len(escape)
		if escaped {
			text = text[len(escape):]
		}
		c, size := nextChar(text)
		switch {
		case c == '%' && !escaped:
			if !flush(false) {
				return nil
			}
		case c == '_' && !escaped:
			wild = true
			chars = append(chars, anyChar)
		default:
			if !wild {
				literal = append(literal, text[:size]...)
			}
			chars = append(chars, c)
		}
		text = text[size:]
	}
	if !flush(true) {
		return nil
	}
	return p
}

// match tells whether the whole of s fits the pattern. Its time grows with the length of s, and with MaxWild at most.
func (p *pattern) match(s string) bool {
	first, others := p.pieces[0], p.pieces[1:]
	n := first.begins(s)
	if n < 0 || len(others) == 0 {
		return n == len(s)
	}
	s = s[n:]
	last := others[len(others)-1]
	if n = last.ends(s); n < 0 {
		return false
	}
	s = s[:len(s)-n]
	for _, q := range others[:len(others)-1] { // the first place is the best one: it leaves most for the others
		if n = q.find(s); n < 0 {
			return false
		}
		s = s[n:]
	}
	return true
}

// begins is how many bytes of the beginning of s are q; negative: s does not begin with it.
func (q *piece) begins(s string) int {
	if !strings.HasPrefix(s, q.literal) {
		return -1
	}
	if q.chars == nil {
		return len(q.literal)
	}
	at := 0
	for _, want := range q.chars {
		if at == len(s) {
			return -1
		}
		c, size := nextChar(s[at:])
		if want != anyChar && c != want {
			return -1
		}
		at += size
	}
	return at
}

// ends is how many bytes of the end of s are q; negative: s does not end with it.
func (q *piece) ends(s string) int {
	if q.chars == nil {
		if !strings.HasSuffix(s, q.literal) {
			return -1
		}
		return len(q.literal)
	}
	end := len(s)
	for i := len(q.chars) - 1; i >= 0; i-- {
		if end == 0 {
			return -1
		}
		r, size := utf8.DecodeLastRuneInString(s[:end])
		if c := charOf(r, size, s[end-1]); q.chars[i] != anyChar && c != q.chars[i] {
			return -1
		}
		end -= size
	}
	return len(s) - end
}

// find is how far the first q in s reaches, in bytes; negative: there is none.
func (q *piece) find(s string) int {
	if q.finder != nil {
		return q.finder.find(s)
	}
	at := strings.Index(s, q.literal)
	if at < 0 {
		return -1
	}
	return at + len(q.literal)
}

// prefix is the literal text that every match begins with; rest tells what may follow it.
func (p *pattern) prefix() (text string, rest patternRest) {
	first := p.pieces[0]
	switch {
	case first.chars != nil:
		return first.literal, restPattern
	case len(p.pieces) == 1:
		return first.literal, restNothing
	case len(p.pieces) == 2 && p.pieces[1].literal == "" && p.pieces[1].chars == nil:
		return first.literal, restAnything
	default:
		return first.literal, restPattern
	}
}

type patternRest uint8

const (
	restNothing patternRest = iota
	restAnything
	restPattern
)

// finder finds characters some of which may be any. It keeps a bit for each of them: whether the characters before and
// this one fit what was just read. A character of a text moves all bits on, in a step for 64 of them (Baeza-Yates and
// Gonnet: Shift-And).
type finder struct {
	words int
	last  uint64 // the bit of the last character, in the last word
	// bits of the characters that fit, words of them each: first for those that the pattern has not
	masks []uint64
	ascii [128]uint16      // which mask, by character
	more  map[int32]uint16 // of the others
}

const finderWords = (MaxWild + 63) / 64

func newFinder(chars []int32) *finder {
	f := &finder{words: (len(chars) + 63) / 64, last: 1 << ((len(chars) - 1) % 64)}
	f.masks = make([]uint64, f.words)
	for i, c := range chars {
		if c == anyChar {
			f.masks[i/64] |= 1 << (i % 64)
		}
	}
	for i, c := range chars {
		if c == anyChar {
			continue
		}
		n := int(f.of(c))
		if n == 0 {
			n = len(f.masks) / f.words
			f.masks = append(f.masks, f.masks[:f.words]...)
			if c >= 0 && c < utf8.RuneSelf {
				f.ascii[c] = uint16(n)
			} else {
				if f.more == nil {
					f.more = map[int32]uint16{}
				}
				f.more[c] = uint16(n)
			}
		}
		f.masks[n*f.words+i/64] |= 1 << (i % 64)
	}
	return f
}

// of is which mask a character has.
func (f *finder) of(c int32) uint16 {
	if c >= 0 && c < utf8.RuneSelf {
		return f.ascii[c]
	}
	return f.more[c]
}

// find is how far the first match in s reaches, in bytes; negative: there is none.
func (f *finder) find(s string) int {
	var bits [finderWords]uint64
	state := bits[:f.words]
	for at := 0; at < len(s); {
		c, size := nextChar(s[at:])
		at += size
		mask := f.masks[int(f.of(c))*f.words:]
		carry := uint64(1)
		for i, v := range state {
			state[i] = (v<<1 | carry) & mask[i]
			carry = v >> 63
		}
		if state[f.words-1]&f.last != 0 {
			return at
		}
	}
	return -1
}
