package condition

import (
	"github.com/hikyaku/hikyaku/internal/message"
)

// Env gives names their values; null for a name without one. A condition asks for a name as often as it stands there.
type Env interface {
	Lookup(name string) message.Value
}

// Row gives slots, as Bind resolved them, their values. Bound never asks for a slot that its resolver did not return.
type Row interface {
	Slot(slot int) message.Value
}

// Bound is a condition whose names are resolved. It is immutable and may be shared between goroutines.
type Bound struct {
	root   *node
	effort Effort
}

// Bind resolves each of e's names once. A name for which ok is false is null in every evaluation.
func (e *Expr) Bind(resolve func(name string) (slot int, ok bool)) *Bound {
	slots, same := make([]int, len(e.names)), true
	for i, name := range e.names {
		slots[i] = -1
		if slot, ok := resolve(name); ok {
			slots[i] = slot
		}
		same = same && slots[i] == i
	}
	if same {
		return &Bound{e.bound, e.effort}
	}
	root := bind(e.root, func(n *node) int { return slots[n.slot] })
	return &Bound{root, effortOf(root)}
}

// Match tells whether the condition is true for the row. It does not allocate for comparisons, logic and integer
// arithmetic.
func (b *Bound) Match(row Row) bool { return truth(b.root, source{row: row}) == yes }

// Eval returns the condition's value for the row: of a comparison or logical operator a Bool or null.
func (b *Bound) Eval(row Row) message.Value { return value(b.root, source{row: row}) }

// Match tells whether the condition is true. Where speed counts, Bind first.
func (e *Expr) Match(env Env) bool { return truth(e.bound, source{env: env}) == yes }

// Eval returns the condition's value.
func (e *Expr) Eval(env Env) message.Value { return value(e.bound, source{env: env}) }

// source is where an evaluation finds the values of names: one of the two.
type source struct {
	row Row
	env Env
}

// bind copies a tree with its slots resolved, its constant parts evaluated and its patterns compiled.
func bind(n *node, slot func(*node) int) *node {
	c := *n
	if n.op == opName {
		if c.slot = slot(n); c.slot < 0 {
			return constant(message.Null())
		}
		return &c
	}
	if n.op == opConst {
		return &c
	}
	c.args = make([]*node, len(n.args))
	folds := true
	for i, a := range n.args {
		c.args[i] = bind(a, slot)
		folds = folds && c.args[i].op == opConst
	}
	if c.op == opLike && c.args[1].op == opConst {
		if text, ok := textOf(c.args[1].value); ok {
			c.pattern = compilePattern(text, c.escape)
		}
	}
	if folds {
		return constant(value(&c, source{}))
	}
	switch c.op {
	case opEqual, opNotEqual, opLess, opLessEqual, opGreater, opGreaterEqual, opNullSafe, opIn, opBetween:
		simplifyDecimals(c.args)
	}
	return &c
}

// simplifyDecimals gives constants that are only compared their cheapest form: 1.0 becomes 1 and 0.5 a float, which
// compare the same.
func simplifyDecimals(args []*node) {
	for i, a := range args {
		if a.op == opConst && a.value.Kind() == message.KindDecimal {
			args[i] = constant(canonicalNumber(a.value))
		}
	}
}

// tri is a truth value of SQL's logic.
type tri uint8

const (
	no tri = iota
	yes
	unknown
)

func triOf(b bool) tri {
	if b {
		return yes
	}
	return no
}

func (t tri) not() tri {
	switch t {
	case no:
		return yes
	case yes:
		return no
	default:
		return unknown
	}
}

func (t tri) value() message.Value {
	if t == unknown {
		return message.Null()
	}
	return message.Bool(t == yes)
}

// value evaluates n as a value.
func value(n *node, s source) message.Value {
	switch n.op {
	case opConst:
		return n.value
	case opName:
		if s.row != nil {
			return s.row.Slot(n.slot)
		}
		if s.env != nil {
			return s.env.Lookup(n.name)
		}
		return message.Null()
	case opNegate:
		return negate(value(n.args[0], s))
	case opInvert:
		return invert(value(n.args[0], s))
	case opBitOr, opBitAnd, opBitXor, opShiftLeft, opShiftRight:
		return bitwise(n.op, value(n.args[0], s), value(n.args[1], s))
	case opAdd, opSubtract, opMultiply, opDivide, opIntDivide, opModulo:
		return arithmetic(n.op, value(n.args[0], s), value(n.args[1], s))
	case opCall:
		if len(n.args) == 1 {
			return functions[n.function].call(value(n.args[0], s), message.Null())
		}
		return functions[n.function].call(value(n.args[0], s), value(n.args[1], s))
	default:
		return truth(n, s).value()
	}
}

// truth evaluates n as a condition.
func truth(n *node, s source) tri {
	switch n.op {
	case opNot:
		return truth(n.args[0], s).not()
	case opAnd:
		return all(n, s)
	case opOr:
		return some(n, s)
	case opXor:
		odd := no
		for _, a := range n.args {
			t := truth(a, s)
			if t == unknown {
				return unknown
			}
			odd ^= t
		}
		return odd
	case opEqual, opNotEqual, opLess, opLessEqual, opGreater, opGreaterEqual:
		c, ok := compare(value(n.args[0], s), value(n.args[1], s))
		if !ok {
			return unknown
		}
		return triOf(holds(n.op, c))
	case opNullSafe:
		a, b := value(n.args[0], s), value(n.args[1], s)
		if a.IsNull() || b.IsNull() {
			return triOf(a.IsNull() && b.IsNull())
		}
		c, ok := compare(a, b)
		return triOf(ok && c == 0)
	case opIs:
		return triOf(is(n.test, n.args[0], s) != n.negated)
	case opIn:
		return negated(n, in(n, s))
	case opBetween:
		return negated(n, between(n, s))
	case opLike:
		return negated(n, like(n, s))
	default:
		return truthOf(value(n, s))
	}
}

func negated(n *node, t tri) tri {
	if n.negated {
		return t.not()
	}
	return t
}

func holds(o op, c int) bool {
	switch o {
	case opEqual:
		return c == 0
	case opNotEqual:
		return c != 0
	case opLess:
		return c < 0
	case opLessEqual:
		return c <= 0
	case opGreater:
		return c > 0
	default:
		return c >= 0
	}
}

func all(n *node, s source) tri {
	result := yes
	for _, a := range n.args {
		switch truth(a, s) {
		case no:
			return no
		case unknown:
			result = unknown
		}
	}
	return result
}

func some(n *node, s source) tri {
	result := no
	for _, a := range n.args {
		switch truth(a, s) {
		case yes:
			return yes
		case unknown:
			result = unknown
		}
	}
	return result
}

func is(test isTest, n *node, s source) bool {
	switch test {
	case isTrue:
		return truth(n, s) == yes
	case isFalse:
		return truth(n, s) == no
	default:
		return value(n, s).IsNull()
	}
}

func in(n *node, s source) tri {
	v := value(n.args[0], s)
	result := no
	for _, a := range n.args[1:] {
		c, ok := compare(v, value(a, s))
		if !ok {
			result = unknown
		} else if c == 0 {
			return yes
		}
	}
	return result
}

// between is args[0] >= args[1] and args[0] <= args[2].
func between(n *node, s source) tri {
	v := value(n.args[0], s)
	low, lowOK := compare(v, value(n.args[1], s))
	high, highOK := compare(v, value(n.args[2], s))
	switch {
	case lowOK && low < 0, highOK && high > 0:
		return no
	case !lowOK || !highOK:
		return unknown
	default:
		return yes
	}
}

func like(n *node, s source) tri {
	text, ok := textOf(value(n.args[0], s))
	if !ok {
		return unknown
	}
	p := n.pattern
	if p == nil {
		pattern, ok := textOf(value(n.args[1], s))
		if !ok {
			return unknown
		}
		if p = compilePattern(pattern, n.escape); p == nil {
			return unknown
		}
	}
	return triOf(p.match(text))
}

// truthOf is a value's truth where a condition is wanted: a number other than 0 is true, and so is a string that reads
// as one.
func truthOf(v message.Value) tri {
	if v.Kind() == message.KindBool {
		return triOf(v.AsBool())
	}
	c, ok := compare(v, message.Int(0))
	if !ok {
		return unknown
	}
	return triOf(c != 0)
}
