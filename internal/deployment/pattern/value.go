package pattern

import (
	"encoding/json"
	"strings"
)

// A test is one alternative for a value that is there.
type test interface{ holds(value any) bool }

// existence is a test for values that are there, or that are not.
type existence bool

const (
	exists existence = true
	absent existence = false
)

func (e existence) holds(any) bool { return bool(e) }

// same is a value that is the same text: numbers are compared as they are written. It is a string, a json.Number, a
// bool or nil.
type same struct{ value any }

func (s same) holds(value any) bool { return value == s.value }

// like is a text that begins or ends with another, or is it, perhaps whatever the case.
type like struct {
	text       string
	where      place
	ignoreCase bool
}

type place uint8

const (
	whole place = iota
	atFront
	atEnd
)

func (l like) holds(value any) bool {
	s, ok := value.(string)
	if !ok {
		return false
	}
	text := l.text
	if l.ignoreCase {
		s, text = strings.ToLower(s), strings.ToLower(text)
	}
	switch l.where {
	case atFront:
		return strings.HasPrefix(s, text)
	case atEnd:
		return strings.HasSuffix(s, text)
	}
	return s == text
}

// but holds where none of its tests does.
type but struct{ none []test }

func (b but) holds(value any) bool {
	for _, t := range b.none {
		if t.holds(value) {
			return false
		}
	}
	return true
}

// between is a number within bounds. Numbers of the language have at most 15 digits, which a float64 keeps.
type between struct {
	above, below       float64
	andAbove, andBelow bool // the bound itself, too
	hasAbove, hasBelow bool
}

func (b between) holds(value any) bool {
	n, ok := value.(json.Number)
	if !ok {
		return false
	}
	x, err := n.Float64()
	if err != nil {
		return false
	}
	if b.hasAbove && (x < b.above || x == b.above && !b.andAbove) {
		return false
	}
	return !b.hasBelow || x < b.below || x == b.below && b.andBelow
}
