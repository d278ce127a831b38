package shape

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

type kind int

const (
	text kind = iota
	integer
	double
	boolean
	blob
	list
	dictionary
	structure
	anything
)

// names are the kinds as the service's errors have them.
var names = map[kind]string{text: "a String", integer: "an Integer", double: "a Double", boolean: "a Boolean",
	blob: "a Blob"}

// Shape is the form of a value.
type Shape struct {
	kind        kind
	least, most float64 // of a length or, for numbers, of the value
	pattern     *Pattern
	values      []string // of an enumeration
	bare        bool     // a list of them says what they are without saying that it is about its members
	also        func(string) bool
	key, of     *Shape // of a map, of a map or list
	members     []Member
}

// Member is one of a structure.
type Member struct {
	Name     string
	Shape    *Shape
	Required bool
}

// Pattern is a regular expression as the service's model has it.
type Pattern struct {
	text string
	form func() *regexp.Regexp // compiled when it is first asked: there are many, and few processes need any
}

// Form is a pattern of a whole text.
func Form(text string) *Pattern { return FormAs(text, text) }

// FormAs is a pattern that looks around, which Go's do not: form matches the same without it.
func FormAs(text, form string) *Pattern {
	return &Pattern{text: text, form: sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:` + form + `)$`)
	})}
}

// Match tells whether a text is of the form.
func (p *Pattern) Match(s string) bool { return p.form().MatchString(s) }

// Parts are the groups of a text that is of the form, the whole first; nil: it is not.
func (p *Pattern) Parts(s string) []string { return p.form().FindStringSubmatch(s) }

// Unbounded is a length without a limit.
const Unbounded = math.MaxInt32

// String is a text with a length in characters. The pattern may be nil.
func String(least, most int, p *Pattern) *Shape {
	return &Shape{kind: text, least: float64(least), most: float64(most), pattern: p}
}

// Enum is one of some texts.
func Enum(values ...string) *Shape { return &Shape{kind: text, most: Unbounded, values: values} }

// Open is an Enum that also takes other texts, and of which a list complains without a word about its members.
func Open(also func(string) bool, values ...string) *Shape {
	s := Enum(values...)
	s.bare, s.also = true, also
	return s
}

// Integer is a whole number.
func Integer(least, most int) *Shape {
	return &Shape{kind: integer, least: float64(least), most: float64(most)}
}

// Ratio is a number with a fraction.
func Ratio(least, most float64) *Shape { return &Shape{kind: double, least: least, most: most} }

// Bool is true or false.
func Bool() *Shape { return &Shape{kind: boolean} }

// Blob is bytes in base64, which are not looked at.
func Blob() *Shape { return &Shape{kind: blob} }

// Anything is not looked at.
func Anything() *Shape { return &Shape{kind: anything} }

// List is a list of values with a length.
func List(least, most int, of *Shape) *Shape {
	return &Shape{kind: list, least: float64(least), most: float64(most), of: of}
}

// Map has texts as its keys.
func Map(key, of *Shape) *Shape { return &Shape{kind: dictionary, most: Unbounded, key: key, of: of} }

// Struct is a structure.
func Struct(members ...Member) *Shape { return &Shape{kind: structure, members: members} }

// Must is a member that has to be there.
func Must(name string, s *Shape) Member { return Member{name, s, true} }

// May is one that need not.
func May(name string, s *Shape) Member { return Member{name, s, false} }

// broken are the constraints that a text does not satisfy.
func (s *Shape) broken(value string) []string {
	var all []string
	n := float64(utf8.RuneCountInString(value))
	if s.values != nil {
		if slices.Contains(s.values, value) || s.also != nil && s.also(value) {
			return nil
		}
		return []string{s.enum()}
	}
	if n > s.most {
		all = append(all, s.atMost())
	}
	if n < s.least {
		all = append(all, s.atLeast())
	}
	if s.pattern != nil && !s.pattern.Match(value) {
		all = append(all, s.matches())
	}
	return all
}

// every are all constraints of a member of a list or map, of which one is broken.
func (s *Shape) every(notNull bool) string {
	var all []string
	switch {
	case s.values != nil:
		all = append(all, s.enum())
	default:
		if s.most != Unbounded {
			all = append(all, s.atMost())
		}
		if s.most != Unbounded || s.least != 0 {
			all = append(all, s.atLeast())
		}
		if s.pattern != nil {
			all = append(all, s.matches())
		}
	}
	if notNull {
		all = append(all, notNullText)
	}
	return "[" + strings.Join(all, ", ") + "]"
}

const notNullText = "Member must not be null"

func (s *Shape) enum() string {
	return "Member must satisfy enum value set: [" + strings.Join(s.values, ", ") + "]"
}

func (s *Shape) matches() string {
	return "Member must satisfy regular expression pattern: " + s.pattern.text
}

func (s *Shape) atMost() string  { return s.bound("less", s.most) }
func (s *Shape) atLeast() string { return s.bound("greater", s.least) }

func (s *Shape) bound(word string, n float64) string {
	what := "length"
	if s.kind == integer || s.kind == double {
		what = "value"
	}
	return fmt.Sprintf("Member must have %s %s than or equal to %s", what, word, s.number(n))
}

// number writes a number as the service does: 2, and 2.0 where it may have a fraction.
func (s *Shape) number(n float64) string {
	if s.kind == double && n == math.Trunc(n) {
		return strconv.FormatFloat(n, 'f', 1, 64)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}
