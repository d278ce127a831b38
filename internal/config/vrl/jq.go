package vrl

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// writer makes jq of expressions and gathers what it cannot.
type writer struct {
	unknown []string
	depth   int
	mapped  func(path) (string, bool) // what a path into parsed text has become
	known   map[string]bool           // variables; false: what went wrong in an assignment, which is null here
}

func (w *writer) cannot(what string) string {
	if !slices.Contains(w.unknown, what) {
		w.unknown = append(w.unknown, what)
	}
	return "null"
}

// program is a list of statements, each of which takes the event and gives it on.
func (w *writer) program(list []expr) string {
	var parts []string
	for _, x := range list {
		if s := w.statement(x); s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) > 0 && binding.MatchString(parts[len(parts)-1]) {
		parts = append(parts, ".") // jq wants something behind it
	}
	return strings.Join(parts, " | ")
}

// binding is the end of what gives a variable its value.
var binding = regexp.MustCompile(` as \$[A-Za-z0-9_]+$`)

func (w *writer) statement(x expr) string {
	switch x := x.(type) {
	case assign:
		return w.assign(x)
	case cond:
		s := "if " + w.value(x.test) + " then " + or(w.program(x.yes), ".")
		if x.other != nil {
			if program := w.program(x.other); program != "" {
				s += " else " + program
			}
		}
		return s + " end"
	case call:
		switch x.name {
		case "del":
			return w.del(x)
		case "log", "assert", "assert_eq":
			return ""
		}
		if _, pure := functions[x.name]; !pure || x.closure != nil {
			w.cannot(x.name)
		}
	}
	return "" // a value that nobody takes
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func (w *writer) del(c call) string {
	p, ok := c.value(0, "target").(path)
	if !ok || p.event() {
		w.cannot("del")
		return ""
	}
	if _, mapped := w.mapped(p); mapped || p.root != "" {
		return ""
	}
	return "del(" + w.path(p) + ")"
}

func (w *writer) assign(a assign) string {
	value, moved := "null", ""
	if c, ok := a.value.(call); ok && c.name == "del" { // it is taken from there
		moved = w.del(c)
		if p, ok := c.value(0, "target").(path); ok {
			value = w.value(p)
		}
	} else {
		value = w.value(a.value)
	}
	if a.failed != nil {
		value = "(" + bracket(value) + "? // null)"
		w.declare(a.failed.root, false)
	}
	w.declare(a.target.root, true)
	s := ""
	switch {
	case a.target.variable():
		s = value + " as $" + a.target.root
	case a.target.root != "":
		w.cannot("a change within the variable " + a.target.root)
		return ""
	case a.target.event() && a.merge:
		s = ". + " + value
	case a.target.event():
		s = value
	case a.merge:
		s = w.path(a.target) + " += " + value
	default:
		s = w.path(a.target) + " = " + value
	}
	if moved != "" {
		s += " | " + moved
	}
	return s
}

func (w *writer) declare(name string, real bool) {
	if name == "" {
		return
	}
	if w.known == nil {
		w.known = map[string]bool{}
	}
	w.known[name] = real
}

// simple tells what needs no parentheses.
var simple = regexp.MustCompile(`^(-?[0-9.]+|null|true|false|\.|[.$][A-Za-z0-9_.]+|"[^"\\]*")$`)

func bracket(s string) string {
	if simple.MatchString(s) || whole(s) {
		return s
	}
	return "(" + s + ")"
}

// whole tells whether a text is one pair of parentheses with all else between them.
func whole(s string) bool {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i == len(s)-1
			}
		}
		if depth == 0 {
			return false
		}
	}
	return false
}

// value is an expression's value; it may stand as an operand.
func (w *writer) value(x expr) string {
	if w.depth++; w.depth > maxDepth*2 {
		return w.cannot("so deep a nesting")
	}
	defer func() { w.depth-- }()
	switch x := x.(type) {
	case literal:
		return x.jq
	case str:
		return quote(x.text)
	case when:
		return quote(x.text)
	case regex:
		return w.cannot("a pattern that stands alone")
	case path:
		if s, ok := w.mapped(x); ok {
			return s
		}
		return w.path(x)
	case into:
		return "(" + w.value(x.x) + " | " + w.path(path{steps: x.steps}) + ")"
	case binary:
		return w.binary(x)
	case not:
		return "(" + w.value(x.x) + " | not)"
	case array:
		var items []string
		for _, i := range x.items {
			items = append(items, w.value(i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case object:
		var pairs []string
		for i, name := range x.names {
			key := name
			if !word.MatchString(name) {
				key = quote(name)
			}
			pairs = append(pairs, key+": "+w.value(x.values[i]))
		}
		return "{" + strings.Join(pairs, ", ") + "}"
	case cond:
		if len(x.yes) == 1 && len(x.other) <= 1 {
			s := "(if " + w.value(x.test) + " then " + w.value(x.yes[0]) + " else "
			if len(x.other) == 0 {
				return s + "null end)"
			}
			return s + w.value(x.other[0]) + " end)"
		}
		return w.cannot("an if of several statements that gives a value")
	case call:
		return w.call(x)
	default:
		return w.cannot("an assignment within an expression")
	}
}

func (w *writer) binary(b binary) string {
	x, y := w.value(b.x), w.value(b.y)
	switch b.op {
	case "??":
		return "(" + bracket(x) + "? // " + y + ")"
	case "&&":
		return "(" + x + " and " + y + ")"
	case "||":
		return "(" + x + " // " + y + ")" // the first that is neither null nor false
	}
	return "(" + x + " " + b.op + " " + y + ")"
}

var word = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (w *writer) path(p path) string {
	var b strings.Builder
	if p.root != "" {
		switch real, ok := w.known[p.root]; {
		case !ok:
			return w.cannot("the variable " + p.root)
		case !real:
			return "null"
		}
		b.WriteString("$" + p.root)
	}
	for i, s := range p.steps {
		switch {
		case s.at != nil:
			if i == 0 && p.root == "" {
				b.WriteString(".")
			}
			b.WriteString("[" + w.value(s.at) + "]")
		case word.MatchString(s.name):
			b.WriteString("." + s.name)
		default:
			b.WriteString("." + quote(s.name))
		}
	}
	return or(b.String(), ".")
}

// quote writes a text as jq has it, which is JSON; a backslash before a parenthesis would begin a program.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			b.WriteString(`\u` + strings.Repeat("0", 4-len(strconv.FormatInt(int64(r), 16))) +
				strconv.FormatInt(int64(r), 16))
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}
