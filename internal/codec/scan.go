package codec

import (
	"fmt"
	"unicode/utf8"
)

// scanner walks one JSON text strictly as RFC 8259 has it: no comments, no trailing commas, valid UTF-8, nothing after
// the value. With a visitor it says where the fields are, and pieces may be replaced in a copy.
type scanner struct {
	src []byte
	pos int

	visitor // nil: only check
	path    []byte

	compact bool   // leave out white space between tokens
	out     []byte // the copy so far; nil while it would be the same as src
	kept    int    // src before it is in out or left out
}

// visitor is told of the fields of objects that are not inside arrays.
type visitor interface {
	// scalar is called after a field's string, number, true, false or null was read: src[start:end]. depth is 1 for the
	// fields of the outermost object. An error ends the scan.
	scalar(s *scanner, depth, start, end int) error
	// composite is called before a field's object or array is read, and tells whether to visit what is in it.
	composite(s *scanner, depth, start int) (descend bool, err error)
}

func (s *scanner) errorf(offset int, hint, format string, args ...any) error {
	return (&Error{Codec: "json", Offset: offset, Message: fmt.Sprintf(format, args...), Hint: hint}).at(s.src)
}

// document scans the whole text and leaves the kind of its value's first byte.
func (s *scanner) document() (first byte, err error) {
	s.space()
	if s.pos == len(s.src) {
		return 0, s.errorf(s.pos, "", "the body is empty, a JSON value is wanted")
	}
	if first = s.src[s.pos]; !beginsValue(first) {
		return first, s.errorf(s.pos, "decode it with its own codec first: csv, logfmt, regex",
			"the body begins with %s and is no JSON", s.here())
	}
	if err := s.value(0, s.visitor != nil); err != nil {
		return first, err
	}
	s.space()
	if s.pos < len(s.src) {
		return first, s.errorf(s.pos, "one message holds one JSON value", "unexpected %s after the JSON value",
			s.here())
	}
	return first, nil
}

func beginsValue(c byte) bool {
	switch c {
	case '{', '[', '"', '-', 't', 'f', 'n':
		return true
	}
	return c >= '0' && c <= '9'
}

// here shows what stands at the present place.
func (s *scanner) here() string {
	if s.pos >= len(s.src) {
		return "end"
	}
	_, n := utf8.DecodeRune(s.src[s.pos:])
	return quote(s.src[s.pos : s.pos+n])
}

// space steps over white space.
func (s *scanner) space() {
	start := s.pos
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
			continue
		}
		break
	}
	if s.compact && s.pos > start {
		s.replace(start, s.pos, nil)
	}
}

// replace puts text in the place of src[start:end] in the copy. Places must come in order.
func (s *scanner) replace(start, end int, text []byte) {
	if s.out == nil {
		s.out = make([]byte, 0, len(s.src)+len(text))
	}
	s.out = append(s.out, s.src[s.kept:start]...)
	s.out = append(s.out, text...)
	s.kept = end
}

// result is the copy, or src itself when nothing was replaced.
func (s *scanner) result() []byte {
	if s.out == nil {
		return s.src
	}
	return append(s.out, s.src[s.kept:]...)
}

func (s *scanner) value(depth int, visit bool) error {
	if s.pos == len(s.src) {
		return s.errorf(s.pos, "the message was cut off", "the JSON ends where a value is wanted")
	}
	switch c := s.src[s.pos]; {
	case c == '{':
		return s.object(depth+1, visit)
	case c == '[':
		return s.array(depth + 1)
	case c == '"':
		return s.text()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	default:
		return s.word()
	}
}

func (s *scanner) tooDeep(depth int) error {
	if depth > MaxDepth {
		return s.errorf(s.pos, "", "the JSON is nested deeper than %d levels", MaxDepth)
	}
	return nil
}

func (s *scanner) object(depth int, visit bool) error {
	if err := s.tooDeep(depth); err != nil {
		return err
	}
	s.pos++
	s.space()
	if s.accept('}') {
		return nil
	}
	for n := 1; ; n++ {
		if depth == 1 && n > MaxFields {
			return s.errorf(s.pos, "", "the object has more than %d fields", MaxFields)
		}
		if err := s.member(depth, visit); err != nil {
			return err
		}
		s.space()
		if s.accept('}') {
			return nil
		}
		if !s.accept(',') {
			return s.wanted(`"," or "}"`)
		}
		s.space()
	}
}

func (s *scanner) member(depth int, visit bool) error {
	start := s.pos
	if s.pos == len(s.src) || s.src[s.pos] != '"' {
		return s.wanted("a field's name in double quotes")
	}
	if err := s.text(); err != nil {
		return err
	}
	parent := len(s.path)
	if visit {
		if depth > 1 {
			s.path = append(s.path, '.')
		}
		s.path = appendUnquoted(s.path, s.src[start+1:s.pos-1])
	}
	s.space()
	if !s.accept(':') {
		return s.wanted(`":"`)
	}
	s.space()
	if !visit {
		return s.value(depth, false)
	}
	err := s.visited(depth)
	s.path = s.path[:parent]
	return err
}

// visited reads a field's value and tells the visitor.
func (s *scanner) visited(depth int) error {
	start := s.pos
	if start < len(s.src) && (s.src[start] == '{' || s.src[start] == '[') {
		descend, err := s.composite(s, depth, start)
		if err != nil {
			return err
		}
		return s.value(depth, descend)
	}
	if err := s.value(depth, false); err != nil {
		return err
	}
	return s.scalar(s, depth, start, s.pos)
}

func (s *scanner) array(depth int) error {
	if err := s.tooDeep(depth); err != nil {
		return err
	}
	s.pos++
	s.space()
	if s.accept(']') {
		return nil
	}
	for {
		if err := s.value(depth, false); err != nil {
			return err
		}
		s.space()
		if s.accept(']') {
			return nil
		}
		if !s.accept(',') {
			return s.wanted(`"," or "]"`)
		}
		s.space()
	}
}

func (s *scanner) accept(c byte) bool {
	if s.pos < len(s.src) && s.src[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) wanted(what string) error {
	if s.pos == len(s.src) {
		return s.errorf(s.pos, "the message was cut off", "the JSON ends where %s is wanted", what)
	}
	return s.errorf(s.pos, "", "unexpected %s where %s is wanted", s.here(), what)
}
