package condition

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Expr is a parsed condition. It is immutable and may be shared between goroutines.
type Expr struct {
	text  string // as given; "" for one that a Plan made
	root  *node
	names []string // each once, in order of appearance; a name's index is its slot
	bound *node    // root with constants folded, its names' slots as in names

	effort Effort
	// once they were asked for:
	planned, printed sync.Once
	plan             Plan
	canonical        string
}

// maxNesting bounds the parser's own recursion. A canonical text needs at most two levels for each of the tree's.
const maxNesting = 2*MaxDepth + 50

// Parse reads a condition. The error is an *Error.
func Parse(text string) (*Expr, error) {
	if len(text) > MaxText {
		return nil, newError(text, MaxText, "shorten the condition", "the condition is longer than %d bytes", MaxText)
	}
	if !utf8.ValidString(text) {
		return nil, newError(text, firstInvalid(text), "write other bytes as x'…'", "the condition is not valid UTF-8")
	}
	p := &parser{lexer: lexer{text: text}, slots: map[string]int{}}
	root, err := p.condition()
	if err != nil {
		return nil, err
	}
	return newExpr(text, root, p.names), nil
}

// firstInvalid is the offset of the first byte that is not UTF-8.
func firstInvalid(text string) int {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return len(text)
}

func newExpr(text string, root *node, names []string) *Expr {
	e := &Expr{text: text, root: root, names: names}
	e.bound = bind(root, func(n *node) int { return n.slot })
	e.effort = effortOf(e.bound)
	return e
}

// Names returns the names that the condition refers to, each once, in order of appearance. The caller must not change
// it.
func (e *Expr) Names() []string { return e.names }

type parser struct {
	lexer
	token   token
	names   []string
	slots   map[string]int
	nesting int
}

func (p *parser) condition() (*node, *Error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.token.kind == tokenEnd {
		return nil, p.errorf(p.pos, "true matches everything", "the condition is empty")
	}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.token.kind != tokenEnd {
		return nil, p.unexpected("an operator or the end")
	}
	return n, nil
}

func (p *parser) advance() *Error {
	t, err := p.next()
	p.token = t
	return err
}

func (p *parser) is(kind tokenKind, texts ...string) bool {
	if p.token.kind != kind {
		return false
	}
	for _, t := range texts {
		if p.token.text == t {
			return true
		}
	}
	return false
}

// accept steps over a keyword or symbol if it is the present one.
func (p *parser) accept(kind tokenKind, text string) (bool, *Error) {
	if !p.is(kind, text) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) expect(kind tokenKind, text string) *Error {
	ok, err := p.accept(kind, text)
	if err == nil && !ok {
		return p.unexpected(quoteSymbol(text))
	}
	return err
}

// wantOperand is what unexpected says where a value could stand.
const wantOperand = "a name or a value"

func quoteSymbol(s string) string { return `"` + s + `"` }

func (p *parser) unexpected(wanted string) *Error {
	hint := ""
	if p.is(tokenWord, "like", "in", "between", "is") {
		hint = "put the left side in parentheses"
	} else if p.token.kind == tokenWord && wanted == wantOperand {
		hint = "a name that is a keyword stands between backquotes"
	}
	if p.token.kind == tokenEnd {
		return p.errorf(len(p.text), "", "the condition ends where %s is wanted", wanted)
	}
	return p.errorf(p.token.offset, hint, "unexpected %s: %s is wanted here",
		shorten(p.text[p.token.offset:p.token.end]), wanted)
}

// enter counts a level of the parser's own recursion; leave takes it back.
func (p *parser) enter() *Error {
	if p.nesting++; p.nesting > maxNesting {
		return p.tooDeep(p.token.offset)
	}
	return nil
}

func (p *parser) leave() { p.nesting-- }

func (p *parser) tooDeep(offset int) *Error {
	return p.errorf(offset, "simplify it", "the condition is nested deeper than %d levels", MaxDepth)
}

// node is newNode with the limit on height.
func (p *parser) node(o op, offset int, args ...*node) (*node, *Error) {
	n := newNode(o, offset, args...)
	if n.height > MaxDepth {
		return nil, p.tooDeep(offset)
	}
	return n, nil
}

func (p *parser) or() (*node, *Error)  { return p.chain(opOr, p.xor, "or", "||") }
func (p *parser) xor() (*node, *Error) { return p.chain(opXor, p.and, "xor", "") }
func (p *parser) and() (*node, *Error) { return p.chain(opAnd, p.not, "and", "&&") }

// chain reads operands joined by one associative operator into one node, however they were parenthesised.
func (p *parser) chain(o op, operand func() (*node, *Error), word, symbol string) (*node, *Error) {
	first, err := operand()
	if err != nil {
		return nil, err
	}
	args := []*node{first}
	offset := p.token.offset
	for p.is(tokenWord, word) || p.is(tokenSymbol, symbol) {
		if err := p.advance(); err != nil {
			return nil, err
		}
		n, err := operand()
		if err != nil {
			return nil, err
		}
		args = append(args, n)
	}
	if len(args) == 1 {
		return first, nil
	}
	flat := make([]*node, 0, len(args))
	for _, a := range args {
		if a.op == o {
			flat = append(flat, a.args...)
		} else {
			flat = append(flat, a)
		}
	}
	return p.node(o, offset, flat...)
}

func (p *parser) not() (*node, *Error) {
	offset := p.token.offset
	ok, err := p.accept(tokenWord, "not")
	if err != nil {
		return nil, err
	}
	if !ok {
		return p.comparison()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	n, err := p.not()
	if err != nil {
		return nil, err
	}
	return p.node(opNot, offset, n)
}

var comparisons = map[string]op{"=": opEqual, "==": opEqual, "!=": opNotEqual, "<>": opNotEqual, "<": opLess,
	"<=": opLessEqual, ">": opGreater, ">=": opGreaterEqual, "<=>": opNullSafe}

func (p *parser) comparison() (*node, *Error) {
	left, err := p.predicate()
	if err != nil {
		return nil, err
	}
	for {
		offset := p.token.offset
		o, compares := comparisons[p.token.text]
		switch {
		case p.token.kind == tokenSymbol && compares:
			if err := p.advance(); err != nil {
				return nil, err
			}
			right, err := p.predicate()
			if err != nil {
				return nil, err
			}
			if left, err = p.node(o, offset, left, right); err != nil {
				return nil, err
			}
		case p.is(tokenWord, "is"):
			if left, err = p.isTest(left); err != nil {
				return nil, err
			}
		default:
			return left, nil
		}
	}
}

func (p *parser) isTest(left *node) (*node, *Error) {
	offset := p.token.offset
	if err := p.advance(); err != nil {
		return nil, err
	}
	negated, err := p.accept(tokenWord, "not")
	if err != nil {
		return nil, err
	}
	var test isTest
	switch {
	case p.is(tokenWord, "null"), p.token.kind == tokenName && !p.token.quoted &&
		strings.EqualFold(p.token.text, "unknown"):
	case p.is(tokenWord, "true"):
		test = isTrue
	case p.is(tokenWord, "false"):
		test = isFalse
	default:
		return nil, p.unexpected("null, true, false or unknown")
	}
	n, err := p.node(opIs, offset, left)
	if err != nil {
		return nil, err
	}
	n.negated, n.test = negated, test
	return n, p.advance()
}

func (p *parser) predicate() (*node, *Error) {
	left, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	offset := p.token.offset
	negated, err := p.accept(tokenWord, "not")
	if err != nil {
		return nil, err
	}
	var n *node
	switch {
	case p.is(tokenWord, "in"):
		n, err = p.in(left, offset)
	case p.is(tokenWord, "between"):
		n, err = p.between(left, offset)
	case p.is(tokenWord, "like"):
		n, err = p.like(left, offset)
	case negated:
		return nil, p.unexpected("in, between or like")
	default:
		return left, nil
	}
	if err != nil {
		return nil, err
	}
	n.negated = negated
	return n, nil
}

func (p *parser) in(left *node, offset int) (*node, *Error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	args := []*node{left}
	open := p.token.offset
	if err := p.expect(tokenSymbol, "("); err != nil {
		return nil, err
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	for {
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		if args = append(args, n); len(args)-1 > MaxList {
			return nil, p.errorf(open, "", "the list has more than %d members", MaxList)
		}
		if more, err := p.accept(tokenSymbol, ","); err != nil {
			return nil, err
		} else if !more {
			break
		}
	}
	if err := p.expect(tokenSymbol, ")"); err != nil {
		return nil, err
	}
	return p.node(opIn, offset, args...)
}

func (p *parser) between(left *node, offset int) (*node, *Error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	low, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	if err := p.expect(tokenWord, "and"); err != nil {
		return nil, err
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	high, err := p.predicate()
	if err != nil {
		return nil, err
	}
	return p.node(opBetween, offset, left, low, high)
}

func (p *parser) like(left *node, offset int) (*node, *Error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	pattern, err := p.unary()
	if err != nil {
		return nil, err
	}
	n, err := p.node(opLike, offset, left, pattern)
	if err != nil {
		return nil, err
	}
	n.escape = `\`
	if p.token.kind != tokenName || p.token.quoted || !strings.EqualFold(p.token.text, "escape") {
		return n, p.fits(n)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.token.kind != tokenValue || p.token.value.Kind() != message.KindString ||
		utf8.RuneCountInString(p.token.value.AsString()) > 1 {
		return nil, p.unexpected("one character in quotes")
	}
	n.escape = p.token.value.AsString()
	if err := p.fits(n); err != nil {
		return nil, err
	}
	return n, p.advance()
}

// fits refuses a like whose pattern takes too long to look for.
func (p *parser) fits(like *node) *Error {
	pattern := like.args[1]
	if pattern.op != opConst {
		return nil
	}
	if text, ok := textOf(pattern.value); ok && compilePattern(text, like.escape) == nil {
		return p.errorf(pattern.offset, "put a % between", "a pattern has more than %d characters between two %%, "+
			"with a _ among them", MaxWild)
	}
	return nil
}
