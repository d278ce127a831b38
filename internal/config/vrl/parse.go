package vrl

import (
	"errors"
	"fmt"
	"strings"
)

// errParse tells that a program is more than this package reads. It travels as a panic within the parser alone.
var errParse = errors.New("vrl: not understood")

// maxDepth bounds how deeply expressions may be nested.
const maxDepth = 100

type parser struct {
	tokens []token
	i      int
	depth  int
	inside int // brackets within which newlines mean nothing
}

// parse reads a whole program.
func parse(src string) (program []expr, err error) {
	defer func() {
		if r := recover(); r != nil {
			if r != errParse { //nolint:errorlint // it is thrown as it is
				panic(r)
			}
			err = errParse
		}
	}()
	p := &parser{tokens: lex(src)}
	program = p.statements("")
	return program, nil
}

func (p *parser) fail() { panic(errParse) }

func (p *parser) peek() token {
	for p.inside > 0 && p.tokens[p.i].kind == newline {
		p.i++
	}
	return p.tokens[p.i]
}

func (p *parser) next() token {
	t := p.peek()
	if t.kind != end {
		p.i++
	}
	return t
}

// is tells whether a symbol or word comes next.
func (p *parser) is(text string) bool {
	t := p.peek()
	return (t.kind == symbol || t.kind == ident) && t.text == text
}

func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.i++
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		p.fail()
	}
}

func (p *parser) newlines() {
	for p.tokens[p.i].kind == newline {
		p.i++
	}
}

// statements reads up to a closing bracket, or to the end.
func (p *parser) statements(closing string) []expr {
	was := p.inside
	p.inside = 0
	defer func() { p.inside = was }()
	var list []expr
	for {
		p.newlines()
		if closing != "" && p.accept(closing) {
			return list
		}
		if p.peek().kind == end {
			if closing != "" {
				p.fail()
			}
			return list
		}
		list = append(list, p.expression())
		if t := p.peek(); t.kind != newline && t.kind != end && !(closing != "" && p.is(closing)) {
			p.fail()
		}
	}
}

func (p *parser) expression() expr {
	if p.depth++; p.depth > maxDepth {
		p.fail()
	}
	defer func() { p.depth-- }()
	start := p.i
	x := p.binary(0)
	target, ok := x.(path)
	if !ok {
		return x
	}
	a := assign{target: target}
	switch {
	case p.is(",") && p.inside == 0: // value, err = …
		save := p.i
		p.i++
		second, ok := p.binary(0).(path)
		if !ok || !p.accept("=") {
			p.i = save
			return x
		}
		a.failed = &second
	case p.accept("|="):
		a.merge = true
	case p.accept("="):
	default:
		return x
	}
	if p.i == start {
		p.fail()
	}
	p.newlines()
	a.value = p.expression()
	return a
}

// levels are the operators, those that bind least first.
var levels = [][]string{{"??"}, {"||"}, {"&&"}, {"==", "!=", "<=", ">=", "<", ">"}, {"+", "-"}, {"*", "/"}}

func (p *parser) binary(level int) expr {
	if level == len(levels) {
		return p.unary()
	}
	x := p.binary(level + 1)
	for {
		op := ""
		for _, o := range levels[level] {
			if p.accept(o) {
				op = o
				break
			}
		}
		if op == "" {
			return x
		}
		p.newlines()
		x = binary{op, x, p.binary(level + 1)}
	}
}

func (p *parser) unary() expr {
	if p.depth++; p.depth > maxDepth {
		p.fail()
	}
	defer func() { p.depth-- }()
	switch {
	case p.accept("!"):
		return not{p.unary()}
	case p.accept("-"):
		if t := p.next(); t.kind == number {
			return literal{"-" + t.text}
		}
		p.fail()
	}
	return p.primary()
}

func (p *parser) primary() expr {
	t := p.next()
	switch t.kind {
	case number:
		return literal{t.text}
	case text:
		if strings.Contains(t.text, "{{") {
			p.fail() // a template
		}
		return str{t.text}
	case pattern:
		return regex{t.text}
	case moment:
		return when{t.text}
	case ident:
		return p.word(t)
	}
	switch t.text {
	case ".":
		return p.event()
	case "(":
		defer p.bracket()()
		x := p.expression()
		p.expect(")")
		return p.after(x)
	case "[":
		defer p.bracket()()
		var a array
		for !p.accept("]") {
			a.items = append(a.items, p.expression())
			if !p.accept(",") {
				p.expect("]")
				break
			}
		}
		return a
	case "{":
		return p.object()
	}
	p.fail()
	return nil
}

// bracket makes newlines mean nothing until what it returns is called.
func (p *parser) bracket() func() {
	p.inside++
	return func() { p.inside-- }
}

func (p *parser) word(t token) expr {
	switch t.text {
	case "true", "false", "null":
		return literal{t.text}
	case "if":
		return p.cond()
	case "abort", "return":
		p.fail()
	}
	bang := p.is("!") && !p.peek().spaced
	if bang {
		p.i++
	}
	if p.is("(") && !p.peek().spaced {
		return p.after(p.call(t.text))
	}
	if bang {
		p.fail()
	}
	return p.steps(path{root: t.text})
}

func (p *parser) call(name string) call {
	c := call{name: name}
	p.expect("(")
	func() {
		defer p.bracket()()
		for !p.accept(")") {
			a := arg{}
			if t := p.peek(); t.kind == ident && p.i+1 < len(p.tokens) && p.tokens[p.i+1].kind == symbol &&
				p.tokens[p.i+1].text == ":" {
				a.name = t.text
				p.i += 2
			}
			a.value = p.expression()
			c.args = append(c.args, a)
			if !p.accept(",") {
				p.expect(")")
				break
			}
		}
	}()
	if p.accept("->") {
		c.closure = &closure{}
		p.expect("|")
		for !p.accept("|") {
			t := p.next()
			if t.kind != ident {
				p.fail()
			}
			c.closure.params = append(c.closure.params, t.text)
			p.accept(",")
		}
		p.expect("{")
		c.closure.body = p.statements("}")
	}
	return c
}

// object reads an object; a block, which looks like one, is not read.
func (p *parser) object() expr {
	defer p.bracket()()
	var o object
	for !p.accept("}") {
		t := p.next()
		if t.kind != text && t.kind != ident {
			p.fail()
		}
		p.expect(":")
		o.names = append(o.names, t.text)
		o.values = append(o.values, p.expression())
		if !p.accept(",") {
			p.expect("}")
			break
		}
	}
	return o
}

func (p *parser) cond() expr {
	c := cond{test: p.binary(0)}
	p.newlines()
	p.expect("{")
	c.yes = p.statements("}")
	save := p.i
	p.newlines()
	if !p.accept("else") {
		p.i = save
		return c
	}
	if p.accept("if") {
		c.other = []expr{p.cond()}
		return c
	}
	p.expect("{")
	c.other = p.statements("}")
	if c.other == nil {
		c.other = []expr{}
	}
	return c
}

// event reads a path of the event; its dot was read.
func (p *parser) event() expr {
	var at path
	if t := p.peek(); !t.spaced && (t.kind == ident || t.kind == text || t.kind == symbol && t.text == "@") {
		at.steps = append(at.steps, step{name: p.name()})
	}
	return p.steps(at)
}

func (p *parser) name() string {
	prefix := ""
	if p.accept("@") {
		prefix = "@"
	}
	t := p.next()
	if t.kind != ident && t.kind != text {
		p.fail()
	}
	return prefix + t.text
}

func (p *parser) steps(at path) expr {
	for {
		t := p.peek()
		switch {
		case t.spaced || t.kind != symbol:
			return at
		case t.text == ".":
			p.i++
			at.steps = append(at.steps, step{name: p.name()})
		case t.text == "[":
			p.i++
			func() {
				defer p.bracket()()
				at.steps = append(at.steps, step{at: p.expression()})
				p.expect("]")
			}()
		default:
			return at
		}
	}
}

// hidden is the root of a path into what is no path itself, such as the answer of a function.
const hidden = "\x00"

// into is such a path.
type into struct {
	x     expr
	steps []step
}

// after reads steps behind something that is no path.
func (p *parser) after(x expr) expr {
	at, ok := p.steps(path{root: hidden}).(path)
	if !ok || len(at.steps) == 0 {
		return x
	}
	return into{x, at.steps}
}

// String is for tests.
func (p path) String() string { return fmt.Sprint(p.root, p.steps) }
