package rows

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deep objects and arrays in a field may be nested.
const maxDepth = 1000

// form is what a field's JSON text is.
type form uint8

const (
	absent form = iota
	null
	no
	yes
	number
	plain     // a string without escapes
	escaped   // a string with escapes
	composite // an object or array
)

// token is the text of one field, a piece of the body. Strings are without their quotes.
type token struct {
	form form
	text string
}

// content is what a string says.
func (t token) content() string {
	if t.form == plain {
		return t.text
	}
	return unescape(t.text)
}

// scanner walks one JSON object, strictly as RFC 8259 has it, and keeps the tokens of the fields that are asked for. It
// allocates nothing.
type scanner struct {
	names  *names
	tokens []token // by the field's number in names
	// which field stood there in the object before this one: objects of one kind have their fields in one order
	guess []int
	// stranger is a field that is not in names, "" for none. Its name may be cut.
	stranger string

	src string
	pos int
}

// names are the fields that are asked for, by number.
type names struct {
	number map[string]int
	quoted []string // as JSON has them
	opens  []string // and with the colon behind them
}

func newNames() *names { return &names{number: map[string]int{}} }

// add gives a field its number.
func (n *names) add(field string) int {
	i, ok := n.number[field]
	if !ok {
		i = len(n.quoted)
		n.number[field] = i
		q := `"` + field + `"`
		if strings.ContainsFunc(field, func(r rune) bool {
			return r < ' ' || r == '"' || r == '\\' ||
				r == utf8.RuneError
		}) {
			q = "" // never as it is
		}
		n.quoted = append(n.quoted, q)
		if q != "" {
			q += ":"
		}
		n.opens = append(n.opens, q)
	}
	return i
}

func newScanner(n *names) *scanner {
	return &scanner{names: n, tokens: make([]token, len(n.quoted))}
}

// isObject tells whether a body begins as an object does.
func isObject(body string) bool {
	for i := range len(body) {
		switch body[i] {
		case ' ', '\t', '\n', '\r':
		default:
			return body[i] == '{'
		}
	}
	return false
}

// object walks a body. Of a field that stands there twice the last counts.
func (s *scanner) object(body string) error {
	clear(s.tokens)
	s.src, s.pos, s.stranger = body, 0, ""
	err := s.members()
	s.src = ""
	return err
}

func (s *scanner) members() error {
	s.space()
	if !s.accept('{') {
		return s.wrong("an object")
	}
	s.space()
	if s.accept('}') {
		return s.end()
	}
	for n := s.usual(); ; n++ {
		field, err := s.name(n)
		if err != nil {
			return err
		}
		s.space()
		if !s.accept(':') {
			return s.wrong(`":"`)
		}
		s.space()
		t, err := s.value(0)
		if err != nil {
			return err
		}
		if field >= 0 {
			s.tokens[field] = t
		}
		s.space()
		if s.accept('}') {
			return s.end()
		}
		if !s.accept(',') {
			return s.wrong(`"," or "}"`)
		}
		s.space()
	}
}

// usual steps over the first fields as long as they are those that stood there in the object before, texts without
// anything special, and written without blanks, as our decoders write them. It returns how many there were; another one
// follows.
func (s *scanner) usual() (n int) {
	src, pos := s.src, s.pos
	for ; n < len(s.guess) && s.guess[n] >= 0; n++ {
		open := s.names.opens[s.guess[n]]
		start := pos + len(open) + 1
		if open == "" || start >= len(src) || src[pos:start-1] != open || src[start-1] != '"' {
			break
		}
		end := start
		for end < len(src) && special[src[end]] == 0 {
			end++
		}
		if end+2 >= len(src) || src[end:end+3] != `","` {
			break
		}
		s.tokens[s.guess[n]] = token{plain, src[start:end]}
		pos = end + 2
	}
	s.pos = pos
	return n
}

// special has the bytes that end a text, or ask for a closer look.
var special = func() (t [256]uint8) {
	for c := range t {
		if c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			t[c] = 1
		}
	}
	return t
}()

func (s *scanner) end() error {
	s.space()
	if s.pos < len(s.src) {
		return s.wrong("the end of the body")
	}
	return nil
}

// name reads the name of the n-th field: its number, or -1.
func (s *scanner) name(n int) (int, error) {
	if n < len(s.guess) {
		if f := s.guess[n]; f >= 0 && strings.HasPrefix(s.src[s.pos:], s.names.quoted[f]) && s.names.quoted[f] != "" {
			s.pos += len(s.names.quoted[f])
			return f, nil
		}
	}
	if s.pos == len(s.src) || s.src[s.pos] != '"' {
		return -1, s.wrong("a field's name in double quotes")
	}
	t, err := s.text()
	if err != nil {
		return -1, err
	}
	name := t.content()
	f, ok := s.names.number[name]
	if !ok {
		if f = -1; s.stranger == "" {
			s.stranger = name
			if name == "" {
				s.stranger = `""`
			}
		}
	}
	if n == len(s.guess) {
		s.guess = append(s.guess, f)
	} else if n < len(s.guess) {
		s.guess[n] = f
	}
	return f, nil
}

func (s *scanner) space() {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
			continue
		}
		return
	}
}

func (s *scanner) accept(c byte) bool {
	if s.pos < len(s.src) && s.src[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

var errNoJSON = errors.New("the body is no JSON object")

func (s *scanner) wrong(wanted string) error {
	found := "the end"
	if s.pos < len(s.src) {
		_, n := utf8.DecodeRuneInString(s.src[s.pos:])
		found = strconv.Quote(s.src[s.pos : s.pos+n])
	}
	return fmt.Errorf("%w: at byte %d there is %s, not %s", errNoJSON, s.pos, found, wanted)
}

func (s *scanner) value(depth int) (token, error) {
	start := s.pos
	if start == len(s.src) {
		return token{}, s.wrong("a value")
	}
	switch c := s.src[start]; c {
	case '"':
		return s.text()
	case '{', '[':
		if err := s.nested(depth + 1); err != nil {
			return token{}, err
		}
		return token{composite, s.src[start:s.pos]}, nil
	case 't':
		return s.word("true", yes)
	case 'f':
		return s.word("false", no)
	case 'n':
		return s.word("null", null)
	default:
		if c != '-' && c-'0' > 9 {
			return token{}, s.wrong("a value")
		}
		return s.numeral()
	}
}

func (s *scanner) word(w string, f form) (token, error) {
	if !strings.HasPrefix(s.src[s.pos:], w) {
		return token{}, s.wrong("a value")
	}
	s.pos += len(w)
	return token{f, w}, nil
}

func (s *scanner) numeral() (token, error) {
	src, i := s.src, s.pos
	digits := func() bool {
		from := i
		for i < len(src) && src[i]-'0' <= 9 {
			i++
		}
		return i > from
	}
	bad := func() (token, error) {
		s.pos = i
		return token{}, s.wrong("a digit")
	}
	if src[i] == '-' {
		i++
	}
	if i < len(src) && src[i] == '0' {
		i++
	} else if !digits() {
		return bad()
	}
	if i < len(src) && src[i] == '.' {
		if i++; !digits() {
			return bad()
		}
	}
	if i < len(src) && src[i]|0x20 == 'e' {
		if i++; i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		if !digits() {
			return bad()
		}
	}
	t := token{number, src[s.pos:i]}
	s.pos = i
	return t, nil
}

// nested steps over an object or array.
func (s *scanner) nested(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: it is nested deeper than %d levels", errNoJSON, maxDepth)
	}
	object, last := s.src[s.pos] == '{', byte(']')
	if object {
		last = '}'
	}
	s.pos++
	s.space()
	if s.accept(last) {
		return nil
	}
	for {
		if object {
			if s.pos == len(s.src) || s.src[s.pos] != '"' {
				return s.wrong("a field's name in double quotes")
			}
			if _, err := s.text(); err != nil {
				return err
			}
			s.space()
			if !s.accept(':') {
				return s.wrong(`":"`)
			}
			s.space()
		}
		if _, err := s.value(depth); err != nil {
			return err
		}
		s.space()
		if s.accept(last) {
			return nil
		}
		if !s.accept(',') {
			return s.wrong(`"," or ` + strconv.Quote(string(last)))
		}
		s.space()
	}
}
