package mysql

import "unicode/utf8"

// likeMatch reads a text from its begin to its end.
type likeMatch struct {
	p     *likePattern
	rest  string
	alive func() error // why the statement has to end
	steps int
	err   error // alive's
}

// whole tells whether the whole text fits the pattern. Each piece between two % is taken where it is found first: a
// later place could not do better.
func (m *likeMatch) whole() bool {
	pieces := m.p.pieces
	if !m.fits(pieces[0].weights) {
		return false
	}
	if len(pieces) == 1 {
		return m.rest == ""
	}
	last := len(pieces) - 1
	for _, piece := range pieces[1:last] {
		if !m.find(piece) {
			return false
		}
	}
	return m.ends(pieces[last].weights)
}

// read takes the next character's weight. ok is false at the end of the text, at what is no character, and when the
// statement has to end.
func (m *likeMatch) read() (weight int32, ok bool) {
	if m.rest == "" || m.err != nil {
		return 0, false
	}
	if m.steps++; m.steps%(1<<16) == 0 {
		if m.err = m.alive(); m.err != nil {
			return 0, false
		}
	}
	r, n := m.p.next(m.rest)
	if r == utf8.RuneError && n <= 1 {
		return 0, false
	}
	m.rest = m.rest[n:]
	return m.p.weight(r), true
}

// fits reads characters that have to be the next.
func (m *likeMatch) fits(weights []int32) bool {
	for _, want := range weights {
		if got, ok := m.read(); !ok || want != got && want != anyCharacter {
			return false
		}
	}
	return true
}

// find reads to the end of the first place that a piece has.
func (m *likeMatch) find(piece likePiece) bool {
	if len(piece.weights) == 0 {
		return true
	}
	if piece.back == nil {
		return m.try(piece.weights)
	}
	for n := int32(0); int(n) < len(piece.weights); {
		got, ok := m.read()
		if !ok {
			return false
		}
		for n > 0 && piece.weights[n] != got {
			n = piece.back[n-1]
		}
		if piece.weights[n] == got {
			n++
		}
	}
	return true
}

// try is find for a piece with _ in it: it begins at each character anew.
func (m *likeMatch) try(weights []int32) bool {
	for {
		begin := m.rest
		if m.fits(weights) {
			return true
		}
		if m.rest = begin; len(begin) < len(weights) { // in bytes, of which a character has at least one
			return false
		}
		if _, ok := m.read(); !ok {
			return false
		}
	}
}

// ends tells whether the rest ends with such characters.
func (m *likeMatch) ends(weights []int32) bool {
	if len(weights) == 0 {
		return true
	}
	left, characters := m.rest, 0
	for m.rest != "" {
		if _, ok := m.read(); !ok {
			return false
		}
		characters++
	}
	m.rest = left
	for ; characters > len(weights); characters-- {
		m.read()
	}
	return m.fits(weights) && m.rest == ""
}
