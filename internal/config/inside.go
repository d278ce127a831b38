package config

import (
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// within gives the place in the file of a byte in a scalar's text, as far as it can be told: the text may have
// been quoted, indented, folded and filled from the environment. Otherwise it is where the scalar starts.
func (s *source) within(n *node, offset int) place {
	if offset < 0 || offset > len(n.text) {
		return n.at
	}
	return s.inside(n, n.raw(offset))
}

// raw converts an offset in the text to one in the text before substitution. A place in what the environment gave
// is the place of the ${…}.
func (n *node) raw(offset int) int {
	shift := 0
	for _, c := range n.cuts {
		switch {
		case offset < c.from:
			return offset + shift
		case offset < c.to:
			return c.rawFrom
		}
		shift = c.rawTo - c.to
	}
	return offset + shift
}

// inside gives the place of a byte in the text before substitution. It walks along the source, matching what stands
// there with what it means, until it has passed that many bytes of meaning.
func (s *source) inside(n *node, raw int) place {
	start := n.token
	if start == tokenAtPlace {
		offset, ok := s.offset(n.at)
		if !ok {
			return n.at
		}
		start = offset
	}
	if start < 0 {
		return n.at
	}
	i := s.skipProperties(start)
	text := s.text
	if i >= len(text) {
		return n.at
	}
	w := walker{source: text, quote: text[i]}
	switch {
	case w.quote == '|' || w.quote == '>':
		if n.plain {
			break // cannot be: a plain scalar never starts so
		}
		for i < len(text) && text[i] != '\n' {
			i++
		}
		i++
		w.block = true
		first := strings.TrimLeft(n.text, "\n")
		w.lead = len(first) - len(strings.TrimLeft(first, " "))
	case w.quote == '"' || w.quote == '\'':
		i++
		if s.isTOML() && i+1 < len(text) && text[i] == w.quote && text[i+1] == w.quote {
			i += 2
			w.long = true
			if i < len(text) && text[i] == '\r' {
				i++
			}
			if i < len(text) && text[i] == '\n' { // a newline right after the quotes does not count
				i++
			}
		}
	default:
		w.quote = 0
	}
	w.at = i
	if !w.walk(raw) {
		return n.at
	}
	return s.place(w.at)
}

func (s *source) isTOML() bool { return strings.EqualFold(filepath.Ext(s.name), ".toml") }

// skipProperties passes a YAML anchor and tag before a value.
func (s *source) skipProperties(i int) int {
	for i < len(s.text) && (s.text[i] == '&' || s.text[i] == '!') {
		for i < len(s.text) && s.text[i] > ' ' {
			i++
		}
		for i < len(s.text) && s.text[i] <= ' ' {
			i++
		}
	}
	return i
}

// walker goes along the source of a scalar.
type walker struct {
	source []byte
	quote  byte // " or ', 0 for none
	block  bool // a YAML block scalar
	lead   int  // spaces that belong to the text of its first line
	long   bool // one of TOML's strings in three quotes, which keep their lines as they are
	at     int  // offset in source
}

// walk passes as much source as makes n bytes of text.
func (w *walker) walk(n int) bool {
	lineStart := w.block
	indent := -1
	for passed := 0; ; {
		if w.at >= len(w.source) {
			return passed == n
		}
		c := w.source[w.at]
		if w.block && lineStart {
			// The first line's indentation is taken off every line.
			spaces := 0
			for w.at+spaces < len(w.source) && w.source[w.at+spaces] == ' ' && (indent < 0 || spaces < indent) {
				spaces++
			}
			if i := w.at + spaces; indent < 0 && i < len(w.source) && w.source[i] != '\n' && w.source[i] != '\r' {
				indent = max(spaces-w.lead, 0)
				spaces = indent
			}
			w.at += spaces
			lineStart = false
			continue
		}
		size, meaning := 1, 1
		switch {
		case w.quote == '"' && !w.block && c == '\\':
			size, meaning = w.escape()
		case w.quote == '\'' && !w.block && c == '\'' && w.at+1 < len(w.source) && w.source[w.at+1] == '\'':
			size = 2
		case c == '\r':
			meaning = 0
		case c == '\n' && w.block:
			lineStart = passed < n
		case c == '\n':
			// Folded: a newline and the indentation behind it are one space.
			size = w.newline()
		}
		if passed >= n && meaning > 0 {
			return passed == n
		}
		w.at += size
		passed += meaning
	}
}

// newline is how long a newline in a YAML flow scalar is, with the white space behind it.
func (w *walker) newline() int {
	if w.long {
		return 1
	}
	size := 1
	for w.at+size < len(w.source) && (w.source[w.at+size] == ' ' || w.source[w.at+size] == '\t') {
		size++
	}
	return size
}

// escape tells how long a backslash escape is, and how many bytes it stands for.
func (w *walker) escape() (size, meaning int) {
	if w.at+1 >= len(w.source) {
		return 1, 1
	}
	digits := 0
	switch w.source[w.at+1] {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	case '\n':
		size = 2
		for w.at+size < len(w.source) && (w.source[w.at+size] == ' ' || w.source[w.at+size] == '\t') {
			size++
		}
		return size, 0
	default:
		return 2, 1
	}
	var r rune
	for _, c := range w.source[min(w.at+2, len(w.source)):min(w.at+2+digits, len(w.source))] {
		r = r<<4 | hexDigit(c)
	}
	return 2 + digits, max(utf8.RuneLen(r), 1)
}

func hexDigit(c byte) rune {
	switch {
	case c >= 'a':
		return rune(c-'a') + 10
	case c >= 'A':
		return rune(c-'A') + 10
	default:
		return rune(c - '0')
	}
}
