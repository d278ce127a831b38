package program

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

// Compile compiles a program. It returns nil when the program is not made of these alone:
//
//	.   .a.b   ."a"   .["a"]   .[0]   .[-1]   .[]   $variable   (…)   a, b   a | b   empty
//	null true false 3 1.5 "text" "news \(.id)"   {a: …, b, "c d": …, $key}   […]
//	a // b   a == b   a != b   a and b   a or b   not   if … then … elif … else … end   select(…)   map(…)
//	tostring   tonumber
//
// What is in an object's value, in a string, in a condition or beside an operator has to make exactly one value. The
// program must be one that gojq compiles.
func (s *Scope) Compile(text string) *Program {
	query, err := gojq.Parse(text)
	if err != nil || !utf8.ValidString(text) {
		return nil
	}
	c := compiler{scope: s, names: map[string]string{}}
	stages := c.query(query)
	if c.beyond {
		return nil
	}
	p := &Program{stages: stages, names: c.names}
	if e, ok := single(stages); ok {
		p.single = e
		p.stages = []stage{{one: e}}
	}
	return p
}

// compiler makes stages of a syntax tree.
type compiler struct {
	scope         *Scope
	nodes, nested int
	beyond        bool              // something in it is left to gojq
	names         map[string]string // of objects' members
}

// leave notes that the program is left to gojq.
func (c *compiler) leave() []stage {
	c.beyond = true
	return nil
}

// single makes one expression of stages that make exactly one value.
func single(stages []stage) (e expression, ok bool) {
	all := chain{}
	for _, s := range stages {
		switch e := s.one.(type) {
		case nil:
			return nil, false
		case identity:
		case chain:
			all = append(all, e...)
		default:
			all = append(all, e)
		}
	}
	switch len(all) {
	case 0:
		return identity{}, true
	case 1:
		return all[0], true
	}
	return all, true
}

// expression compiles what has to make exactly one value.
func (c *compiler) expression(q *gojq.Query) expression {
	e, ok := single(c.query(q))
	if !ok {
		c.leave()
		return identity{}
	}
	return e
}

func one(e expression) []stage { return []stage{{one: e}} }

func (c *compiler) query(q *gojq.Query) []stage {
	if c.nodes++; c.beyond || q == nil || c.nodes > maxNodes || q.Meta != nil ||
		len(q.Imports)+len(q.FuncDefs)+len(q.Patterns) > 0 {
		return c.leave()
	}
	if q.Term != nil {
		return c.term(q.Term)
	}
	switch q.Op {
	case gojq.OpPipe:
		left, right := c.query(q.Left), c.query(q.Right)
		if forgets(right) && !passes(left) {
			return c.leave()
		}
		return append(left[:len(left):len(left)], right...)
	case gojq.OpComma:
		return []stage{{comma: [][]stage{c.query(q.Left), c.query(q.Right)}}}
	case gojq.OpAlt:
		return one(otherwise{c.expression(q.Left), c.expression(q.Right)})
	case gojq.OpEq, gojq.OpNe:
		return one(equality{c.expression(q.Left), c.expression(q.Right), q.Op == gojq.OpNe})
	case gojq.OpAnd:
		return one(choice{c.expression(q.Left), choice{c.expression(q.Right), yes, no}, no})
	case gojq.OpOr:
		return one(choice{c.expression(q.Left), yes, choice{c.expression(q.Right), yes, no}})
	}
	return c.leave()
}

func (c *compiler) term(t *gojq.Term) []stage {
	stages, rest := c.variableField(t)
	if stages == nil {
		stages, rest = c.plainTerm(t), t.SuffixList
	}
	for _, s := range rest {
		switch {
		case c.beyond, s.Optional:
			return c.leave()
		case s.Iter:
			stages = append(stages[:len(stages):len(stages)], stage{each: true})
		default:
			stages = append(stages[:len(stages):len(stages)], c.index(s.Index)...)
		}
	}
	return stages
}

// variableField compiles $attributes.name, where the variable knows its fields, and returns the suffixes that follow.
func (c *compiler) variableField(t *gojq.Term) (stages []stage, rest []*gojq.Suffix) {
	if t.Type != gojq.TermTypeFunc || len(t.SuffixList) == 0 || t.SuffixList[0].Index == nil {
		return nil, nil
	}
	i := c.find(t.Func)
	if i < 0 || c.scope.variables[i].Field == nil {
		return nil, nil
	}
	if name, ok := staticName(t.SuffixList[0].Index); ok {
		return one(variableField{i, name}), t.SuffixList[1:]
	}
	return nil, nil
}

// find returns the index of a variable, -1 when it is none.
func (c *compiler) find(f *gojq.Func) int {
	for i := range c.scope.variables {
		if c.scope.variables[i].Name == f.Name && len(f.Args) == 0 {
			return i
		}
	}
	return -1
}

// plainTerm compiles a term without its suffixes.
func (c *compiler) plainTerm(t *gojq.Term) []stage {
	switch t.Type {
	case gojq.TermTypeIdentity:
		return one(identity{})
	case gojq.TermTypeNull:
		return one(constant{null})
	case gojq.TermTypeTrue:
		return one(yes)
	case gojq.TermTypeFalse:
		return one(no)
	case gojq.TermTypeIndex:
		return c.index(t.Index)
	case gojq.TermTypeFunc:
		return c.call(t.Func)
	case gojq.TermTypeObject:
		return c.object(t.Object)
	case gojq.TermTypeArray:
		return c.array(t.Array)
	case gojq.TermTypeNumber:
		return c.number(t.Number)
	case gojq.TermTypeString:
		return c.text(t.Str)
	case gojq.TermTypeIf:
		return one(c.choice(t.If.Cond, t.If.Then, t.If.Elif, t.If.Else))
	case gojq.TermTypeQuery:
		if c.nested++; c.nested > maxNested {
			return c.leave()
		}
		return c.query(t.Query)
	}
	return c.leave()
}

// staticName is the name in .name, ."name" and .["name"].
func staticName(x *gojq.Index) (name string, ok bool) {
	switch {
	case x.IsSlice:
		return "", false
	case x.Name != "":
		return x.Name, true
	case x.Str != nil:
		return x.Str.Str, x.Str.Queries == nil
	case x.Start == nil || x.Start.Term == nil || len(x.Start.FuncDefs)+len(x.Start.Term.SuffixList) > 0:
		return "", false
	}
	t := x.Start.Term
	return plainText(t)
}

func plainText(t *gojq.Term) (text string, ok bool) {
	if t.Type != gojq.TermTypeString || t.Str.Queries != nil {
		return "", false
	}
	return t.Str.Str, true
}

func (c *compiler) index(x *gojq.Index) []stage {
	if name, ok := staticName(x); ok {
		return one(fieldOf{name})
	}
	if x.IsSlice || x.Start == nil || x.Start.Term == nil || len(x.Start.FuncDefs) > 0 {
		return c.leave()
	}
	t, sign := x.Start.Term, ""
	if t.Type == gojq.TermTypeUnary && t.Unary.Op == gojq.OpSub && len(t.SuffixList) == 0 {
		t, sign = t.Unary.Term, "-"
	}
	if t.Type != gojq.TermTypeNumber || len(t.SuffixList) > 0 || !isPlainInteger(t.Number) {
		return c.leave()
	}
	i, err := strconv.Atoi(sign + t.Number)
	if err != nil {
		return c.leave()
	}
	return one(elementOf{i})
}

func (c *compiler) number(text string) []stage {
	if isPlainInteger(text) {
		return one(literal(text))
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !strings.ContainsAny(text, ".eE") {
		return c.leave()
	}
	digits, ok := appendFloat(nil, f)
	if !ok {
		return c.leave()
	}
	return one(literal(string(digits)))
}

func (c *compiler) choice(condition, then *gojq.Query, elif []*gojq.IfElif, otherwise *gojq.Query) expression {
	e := choice{c.expression(condition), c.expression(then), identity{}}
	switch {
	case len(elif) > 0:
		e.no = c.choice(elif[0].Cond, elif[0].Then, elif[1:], otherwise)
	case otherwise != nil:
		e.no = c.expression(otherwise)
	}
	return e
}
