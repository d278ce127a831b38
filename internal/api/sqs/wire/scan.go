package wire

import "strconv"

// A scanner reads JSON (RFC 8259) strictly and in one pass, and takes what it is asked for: a body of a thousand bytes
// costs about as much as copying it. Once something is wrong it stays wrong: every method returns nothing from then on.
type scanner struct {
	data     []byte
	at       int
	wrong    string // what is wrong; "": nothing
	mistyped bool   // it is JSON, but not what was asked for
	of       string // the parameter that is mistyped; "": the request itself
	depth    int    // of what skip is in
	spare    []byte // for keys with escapes
}

// maxDepth bounds nested values that nobody asked for.
const maxDepth = 64

// The messages of SQS for values of a wrong type. Ours name the parameter before them.
const (
	wantText        = " cannot be converted to String"
	wantInteger     = " cannot be converted to Integer"
	wantList        = "Expected list or null"
	wantMap         = "Expected map or null"
	wantStructure   = "Expected structure or null"
	unexpectedList  = "Start of list found where not expected"
	unexpectedStart = "Start of structure or map found where not expected"
)

func (s *scanner) fail(what string) {
	if s.wrong == "" {
		s.wrong, s.mistyped = what, true
		s.at = len(s.data)
	}
}

// message says what is wrong, and with what.
func (s *scanner) message() string {
	if s.of != "" {
		return s.of + ": " + s.wrong
	}
	return s.wrong
}

// malformed notes that the text is not JSON.
func (s *scanner) malformed() {
	if s.wrong == "" {
		s.wrong = "The request is not valid JSON, at byte " + strconv.Itoa(s.at)
		s.at = len(s.data)
	}
}

// peek returns the next byte that is not white space; 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) word(w string) {
	if len(s.data)-s.at < len(w) || string(s.data[s.at:s.at+len(w)]) != w {
		s.malformed()
		return
	}
	s.at += len(w)
}

// open takes a [ or {; want is the message when something else stands there. A null is taken for an empty one.
func (s *scanner) open(c byte, want string) bool {
	switch got := s.peek(); {
	case got == c:
		s.at++
		return true
	case got == 'n':
		s.word("null")
	case got == 0:
		s.malformed()
	default:
		s.fail(want)
	}
	return false
}

// more takes the comma before a further element, or the closing bracket. first says that no element has been taken.
func (s *scanner) more(closing byte, first bool) bool {
	switch c := s.peek(); {
	case s.wrong != "":
		return false
	case c == closing:
		s.at++
		return false
	case first:
		return true
	case c == ',':
		s.at++
		if s.peek() == closing {
			s.malformed()
			return false
		}
		return true
	}
	s.malformed()
	return false
}

// key takes the name of a member and the colon. The name is good until the next key.
func (s *scanner) key() []byte {
	if s.peek() != '"' {
		s.malformed()
		return nil
	}
	raw, plain := s.span()
	if !plain {
		s.spare = s.unescape(s.spare[:0], raw)
		raw = s.spare
	}
	if s.peek() != ':' {
		s.malformed()
		return nil
	}
	s.at++
	return raw
}

// end notes what stands behind the value.
func (s *scanner) end() {
	if s.peek() != 0 || s.at < len(s.data) {
		s.malformed()
	}
}

// text takes a string; ok is false for a null.
func (s *scanner) text() (text string, ok bool) {
	raw, plain, ok := s.quoted()
	if !ok {
		return "", false
	}
	if plain {
		return string(raw), true
	}
	return string(s.unescape(make([]byte, 0, len(raw)), raw)), true
}

// bytes takes a string as bytes of its own.
func (s *scanner) bytes() (text []byte, ok bool) {
	raw, plain, ok := s.quoted()
	if !ok {
		return nil, false
	}
	own := make([]byte, 0, len(raw))
	if plain {
		return append(own, raw...), true
	}
	return s.unescape(own, raw), true
}

func (s *scanner) quoted() (raw []byte, plain, ok bool) {
	switch c := s.peek(); c {
	case '"':
		raw, plain = s.span()
		return raw, plain, s.wrong == ""
	case 'n':
		s.word("null")
	case '{':
		s.fail(unexpectedStart)
	case '[':
		s.fail(unexpectedList)
	case 't':
		s.fail("TRUE_VALUE" + wantText)
	case 'f':
		s.fail("FALSE_VALUE" + wantText)
	default:
		if c == '-' || c >= '0' && c <= '9' {
			s.fail("NUMBER_VALUE" + wantText)
		}
		s.malformed()
	}
	return nil, false, false
}

// integer takes a whole number of at most 32 bits; ok is false for a null.
func (s *scanner) integer() (n int, ok bool) {
	switch c := s.peek(); c {
	case 'n':
		s.word("null")
		return 0, false
	case '"':
		s.fail("STRING_VALUE" + wantInteger)
	case '{':
		s.fail(unexpectedStart)
	case '[':
		s.fail(unexpectedList)
	case 't':
		s.fail("TRUE_VALUE" + wantInteger)
	case 'f':
		s.fail("FALSE_VALUE" + wantInteger)
	}
	raw := s.number()
	if s.wrong != "" {
		return 0, false
	}
	if i, err := strconv.ParseInt(string(raw), 10, 32); err == nil {
		return int(i), true
	}
	// 30.0 and 3e1 are whole numbers, too.
	f, err := strconv.ParseFloat(string(raw), 64)
	if i := int32(f); err == nil && f >= -1<<31 && f < 1<<31 && float64(i) == f {
		return int(i), true
	}
	s.fail("NUMBER_VALUE" + wantInteger)
	return 0, false
}

// number takes a number and returns its text.
func (s *scanner) number() []byte {
	from := s.at
	digits := func() bool {
		start := s.at
		for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' {
			s.at++
		}
		return s.at > start
	}
	at := func(c byte) bool { return s.at < len(s.data) && s.data[s.at] == c }
	if at('-') {
		s.at++
	}
	zero := at('0')
	if start := s.at; !digits() || zero && s.at > start+1 {
		s.malformed()
		return nil
	}
	if at('.') {
		s.at++
		if !digits() {
			s.malformed()
			return nil
		}
	}
	if at('e') || at('E') {
		s.at++
		if at('+') || at('-') {
			s.at++
		}
		if !digits() {
			s.malformed()
			return nil
		}
	}
	return s.data[from:s.at]
}

// skip takes a value that nobody asked for, and checks it.
func (s *scanner) skip() {
	if s.depth++; s.depth > maxDepth {
		s.fail("The request is nested deeper than " + strconv.Itoa(maxDepth) + " levels")
	}
	defer func() { s.depth-- }()
	switch c := s.peek(); c {
	case '"':
		if raw, plain := s.span(); !plain {
			s.spare = s.unescape(s.spare[:0], raw)
		}
	case '{':
		s.at++
		for first := true; s.more('}', first); first = false {
			s.key()
			s.skip()
		}
	case '[':
		s.at++
		for first := true; s.more(']', first); first = false {
			s.skip()
		}
	case 't':
		s.word("true")
	case 'f':
		s.word("false")
	case 'n':
		s.word("null")
	default:
		s.number()
	}
}
