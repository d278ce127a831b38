package filter

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Filter is a parsed filter. It is immutable and may be shared between goroutines.
type Filter struct {
	text string
	root *node // nil: everything matches
}

// String is the filter as it was written.
func (f *Filter) String() string { return f.text }

// All tells whether the filter is empty, which lets every message through.
func (f *Filter) All() bool { return f.root == nil }

// Parse reads a filter. The empty text is the filter that lets everything through. The error is an *Error.
func Parse(text string) (*Filter, error) {
	p := &parser{text: text}
	if text == "" {
		return &Filter{}, nil
	}
	if len(text) > MaxBytes {
		return nil, p.wrong(MaxBytes, fmt.Sprintf("the filter has %d bytes, and at most %d are allowed", len(text),
			MaxBytes), "", "")
	}
	if !utf8.ValidString(text) {
		return nil, p.wrong(invalidByte(text), "the filter is not valid UTF-8", "", "")
	}
	root, err := p.filter()
	if err != nil {
		return nil, err
	}
	return &Filter{text: text, root: root}, nil
}

// invalidByte is the offset of the first byte that is not UTF-8.
func invalidByte(s string) int {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(s)
}

// parser reads a text from left to right. What a word means depends on where it stands: - begins an expression and is
// part of a key. Its recursion is bounded by MaxBytes.
type parser struct {
	text string
	pos  int
}

const (
	wantExpression = `attributes, hasPrefix, NOT or "("`
	wantJoin       = "AND, OR or the end of the filter"
	wantString     = `a string in double quotes`
)

func (p *parser) filter() (*node, *Error) {
	n, err := p.expression("")
	if err != nil {
		return nil, err
	}
	if p.pos < len(p.text) {
		return nil, p.unexpected(wantJoin, p.joinHint())
	}
	return n, nil
}

// expression reads terms that are joined by one operator. A second operator is an error, as is one in small letters.
func (p *parser) expression(closing string) (*node, *Error) {
	first, err := p.term()
	if err != nil {
		return nil, err
	}
	args := []*node{first}
	joined := ""
	for {
		p.blanks()
		word := p.word()
		if word != "AND" && word != "OR" {
			break
		}
		if joined != "" && word != joined {
			return nil, p.wrong(p.pos, fmt.Sprintf("%s and %s stand beside each other", joined, word),
				joined+closingOr(closing), "put parentheses around what belongs together")
		}
		joined = word
		p.pos += len(word)
		next, err := p.term()
		if err != nil {
			return nil, err
		}
		args = append(args, next)
	}
	switch joined {
	case "AND":
		return &node{op: opAnd, args: args}, nil
	case "OR":
		return &node{op: opOr, args: args}, nil
	default:
		return first, nil
	}
}

func closingOr(closing string) string {
	if closing == "" {
		return " or the end of the filter"
	}
	return " or " + closing
}

// joinHint says what to do about what stands where AND or OR is wanted.
func (p *parser) joinHint() string {
	switch word := p.word(); {
	case strings.EqualFold(word, "AND"), strings.EqualFold(word, "OR"):
		return "operators are written in capitals"
	case strings.HasPrefix(p.text[p.pos:], ")"):
		return "no parenthesis is open"
	case strings.HasPrefix(p.text[p.pos:], "&&"):
		return "write AND"
	case strings.HasPrefix(p.text[p.pos:], "||"):
		return "write OR"
	default:
		return ""
	}
}

func (p *parser) term() (*node, *Error) {
	p.blanks()
	switch word := p.word(); {
	case word == "NOT":
		p.pos += len(word)
		return p.negated()
	case p.accept("-"):
		return p.negated()
	case p.accept("("):
		n, err := p.expression(`")"`)
		if err != nil {
			return nil, err
		}
		if !p.accept(")") {
			return nil, p.unexpected(`AND, OR or ")"`, p.joinHint())
		}
		return n, nil
	case word == "attributes":
		return p.comparison()
	case word == "hasPrefix":
		return p.hasPrefix()
	default:
		return nil, p.unexpected(wantExpression, expressionHint(word))
	}
}

func (p *parser) negated() (*node, *Error) {
	n, err := p.term()
	if err != nil {
		return nil, err
	}
	return &node{op: opNot, args: []*node{n}}, nil
}

// expressionHint says what to do about a word that begins no expression.
func expressionHint(word string) string {
	for _, known := range []string{"NOT", "attributes", "hasPrefix"} {
		if strings.EqualFold(word, known) {
			return "write " + known
		}
	}
	if word != "" {
		return `an attribute is named attributes.KEY`
	}
	return ""
}

// comparison reads what begins with attributes.
func (p *parser) comparison() (*node, *Error) {
	p.pos += len("attributes")
	if p.accept(":") {
		key, err := p.key()
		return &node{op: opHas, key: key}, err
	}
	key, err := p.member()
	if err != nil {
		return nil, err
	}
	n := &node{key: key}
	switch {
	case p.accept("!="):
		n.op = opNotEqual
	case p.accept("="):
		n.op = opEqual
	default:
		return nil, p.unexpected(`"=" or "!="`, p.operatorHint())
	}
	n.value, err = p.operand()
	return n, err
}

// operatorHint says what to do about what stands behind attributes.KEY.
func (p *parser) operatorHint() string {
	switch rest := p.text[p.pos:]; {
	case strings.HasPrefix(rest, ".") || rest != "" && rest[0] >= utf8.RuneSelf:
		return `a key with other characters than letters, digits, "_" and "-" is a string: attributes."a.b"`
	case strings.HasPrefix(rest, ":"):
		return "whether there is an attribute is asked by attributes:KEY"
	case rest == "":
		return "whether there is an attribute is asked by attributes:KEY"
	default:
		return ""
	}
}

// member reads .KEY.
func (p *parser) member() (string, *Error) {
	if !p.accept(".") {
		return "", p.unexpected(`":" or "."`, "")
	}
	return p.key()
}

// hasPrefix reads the function with its arguments.
func (p *parser) hasPrefix() (*node, *Error) {
	p.pos += len("hasPrefix")
	if !p.accept("(") {
		return nil, p.unexpected(`"("`, "")
	}
	p.blanks()
	if p.word() != "attributes" {
		return nil, p.unexpected("attributes", "the first argument is an attribute: attributes.KEY")
	}
	p.pos += len("attributes")
	key, err := p.member()
	if err != nil {
		return nil, err
	}
	if !p.accept(",") {
		return nil, p.unexpected(`","`, "")
	}
	value, err := p.operand()
	if err != nil {
		return nil, err
	}
	if !p.accept(")") {
		return nil, p.unexpected(`")"`, "")
	}
	return &node{op: opHasPrefix, key: key, value: value}, nil
}

// key reads a key that stands as it is, or as a string.
func (p *parser) key() (string, *Error) {
	p.blanks()
	if strings.HasPrefix(p.text[p.pos:], `"`) {
		start := p.pos
		key, err := p.quoted()
		if err == nil && key == "" {
			return "", p.wrong(start, "the key is empty", "", "")
		}
		return key, err
	}
	n := keyLength(p.text[p.pos:])
	if n == 0 {
		return "", p.unexpected("a key",
			`a key with other characters than letters, digits, "_" and "-" is a string in double quotes`)
	}
	p.pos += n
	return p.text[p.pos-n : p.pos], nil
}

// operand reads the string that an attribute is compared with.
func (p *parser) operand() (string, *Error) {
	p.blanks()
	switch rest := p.text[p.pos:]; {
	case strings.HasPrefix(rest, `"`):
		return p.quoted()
	case strings.HasPrefix(rest, "attributes"):
		return "", p.unexpected(wantString, "two attributes cannot be compared with each other")
	case strings.HasPrefix(rest, "'"), keyLength(rest) > 0:
		return "", p.unexpected(wantString, `a value stands between double quotes: "…"`)
	default:
		return "", p.unexpected(wantString, "")
	}
}

// blanks steps over white space.
func (p *parser) blanks() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n\f\v", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// accept steps over a symbol, and blanks before it, if it stands there.
func (p *parser) accept(symbol string) bool {
	p.blanks()
	if !strings.HasPrefix(p.text[p.pos:], symbol) {
		return false
	}
	p.pos += len(symbol)
	return true
}

// word is the word of letters that stands here; the parser stays before it.
func (p *parser) word() string {
	rest := p.text[p.pos:]
	n := 0
	for n < len(rest) && isKeyByte(rest[n]) && rest[n] != '-' {
		n++
	}
	return rest[:n]
}

// keyLength is how many bytes of s are a key without quotes.
func keyLength(s string) int {
	n := 0
	for n < len(s) && isKeyByte(s[n]) {
		n++
	}
	return n
}

func isKeyByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
