package config

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The bounds of a file. They keep reading bounded whatever the text says.
const (
	MaxBytes = 4 << 20 // of the file
	maxNodes = 100_000 // values and keys, with YAML aliases written out
	maxDepth = 64      // levels of lists and mappings in one another
)

// place is a line and a column in characters, both from 1. The zero place is the file as a whole.
type place struct{ line, column int }

// source is the text of a file and where its lines start.
type source struct {
	name  string
	text  []byte
	lines []int // offset of each line's first byte
}

// newSource checks what every format asks: the size, UTF-8, no byte order mark to count.
func newSource(name string, text []byte) (*source, *Error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	s := &source{name: name, text: text, lines: []int{0}}
	if len(text) > MaxBytes {
		s.text = nil
		return nil, s.error(place{}, "split it, or keep data in files of its own",
			"the file has %d bytes, and at most %d are read", len(text), MaxBytes)
	}
	for i, c := range text {
		if c == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	if !utf8.Valid(text) {
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && size == 1 {
				return nil, s.error(s.place(i), "save the file as UTF-8", "byte 0x%02x is not UTF-8 text", text[i])
			}
			i += size
		}
	}
	return s, nil
}

// place converts an offset in bytes.
func (s *source) place(offset int) place {
	offset = min(max(offset, 0), len(s.text))
	low, high := 0, len(s.lines) // the line is in [low, high)
	for high-low > 1 {
		if mid := (low + high) / 2; s.lines[mid] <= offset {
			low = mid
		} else {
			high = mid
		}
	}
	return place{low + 1, utf8.RuneCount(s.text[s.lines[low]:offset]) + 1}
}

// placer converts offsets that mostly rise, as a parser meets them: on a long line each costs only the way from the
// last one.
type placer struct {
	source *source
	line   int // the last place; 0 before the first
	column int
	offset int
}

func (p *placer) place(offset int) place {
	s := p.source
	offset = min(max(offset, 0), len(s.text))
	if p.line == 0 || offset < p.offset || p.line < len(s.lines) && offset >= s.lines[p.line] {
		at := s.place(offset)
		p.line, p.column, p.offset = at.line, at.column, offset
		return at
	}
	p.column += utf8.RuneCount(s.text[p.offset:offset])
	p.offset = offset
	return place{p.line, p.column}
}

// offset converts a place back to bytes; ok is false when it is outside of the text.
func (s *source) offset(p place) (int, bool) {
	if p.line < 1 || p.line > len(s.lines) {
		return 0, false
	}
	i := s.lines[p.line-1]
	for n := 1; n < p.column; n++ {
		if i >= len(s.text) || s.text[i] == '\n' {
			return i, false
		}
		_, size := utf8.DecodeRune(s.text[i:])
		i += size
	}
	return i, true
}

// error makes a mistake whose place is inside the text whatever a parser claimed. That of the zero place quotes no
// line.
func (s *source) error(p place, hint, format string, args ...any) *Error {
	whole := p == place{}
	p.line = min(max(p.line, 1), len(s.lines))
	start := s.lines[p.line-1]
	end := len(s.text)
	if p.line < len(s.lines) {
		end = s.lines[p.line] - 1
	}
	width := 0
	if start < end {
		width = utf8.RuneCount(s.text[start:end])
	}
	p.column = min(max(p.column, 1), width+1)
	return &Error{File: s.name, Line: p.line, Column: p.column, Message: fmt.Sprintf(format, args...), Hint: hint,
		whole: whole}
}

// firstText is the column of a line's first character that is no space.
func (s *source) firstText(line int) place {
	text, ok := lineOf(s.text, line)
	if !ok {
		return place{line, 1}
	}
	return place{line, len(text) - len(strings.TrimLeft(text, " \t")) + 1}
}
