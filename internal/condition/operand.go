package condition

import (
	"math"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/message"
)

// levels are the left-associative arithmetic operators, from the loosest.
var levels = [...]map[string]op{
	{"|": opBitOr},
	{"&": opBitAnd},
	{"<<": opShiftLeft, ">>": opShiftRight},
	{"+": opAdd, "-": opSubtract},
	{"*": opMultiply, "/": opDivide, "div": opIntDivide, "%": opModulo, "mod": opModulo},
	{"^": opBitXor},
}

func (p *parser) binary(level int) (*node, *Error) {
	if level == len(levels) {
		return p.unary()
	}
	left, err := p.binary(level + 1)
	if err != nil {
		return nil, err
	}
	for {
		o, ok := levels[level][p.token.text]
		if !ok || p.token.kind != tokenSymbol && p.token.kind != tokenWord {
			return left, nil
		}
		offset := p.token.offset
		if err := p.advance(); err != nil {
			return nil, err
		}
		right, err := p.binary(level + 1)
		if err != nil {
			return nil, err
		}
		if left, err = p.node(o, offset, left, right); err != nil {
			return nil, err
		}
	}
}

func (p *parser) unary() (*node, *Error) {
	if !p.is(tokenSymbol, "-", "+", "~", "!") {
		return p.primary()
	}
	sign := p.token
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	n, err := p.unary()
	if err != nil {
		return nil, err
	}
	switch sign.text {
	case "+":
		return n, nil
	case "~":
		return p.node(opInvert, sign.offset, n)
	case "!":
		return p.node(opNot, sign.offset, n)
	}
	if n.op == opConst {
		if v, ok := negateLiteral(n.value); ok {
			return &node{op: opConst, value: v, offset: sign.offset, height: 1}, nil
		}
	}
	return p.node(opNegate, sign.offset, n)
}

// negateLiteral gives a number's opposite, whatever its size: -9223372036854775808 is an integer though its digits
// without the sign are too large for one.
func negateLiteral(v message.Value) (message.Value, bool) {
	switch v.Kind() {
	case message.KindInt:
		if v.AsInt() == math.MinInt64 {
			return message.Uint(1 << 63), true
		}
		return message.Int(-v.AsInt()), true
	case message.KindUint:
		if v.AsUint() == 1<<63 {
			return message.Int(math.MinInt64), true
		}
		return message.Decimal("-" + strconv.FormatUint(v.AsUint(), 10)), true
	case message.KindFloat:
		return message.Float(0 - v.AsFloat()), true
	case message.KindDecimal:
		return integerOrDecimal(negateText(v.AsString())), true
	default:
		return message.Value{}, false
	}
}

func negateText(s string) string {
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		return rest
	}
	if strings.Trim(s, "0.") == "" {
		return s
	}
	return "-" + s
}

// integerOrDecimal makes a literal's value of a decimal text, as the lexer would.
func integerOrDecimal(s string) message.Value {
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return message.Uint(u)
	}
	return message.Decimal(s)
}

func (p *parser) primary() (*node, *Error) {
	t := p.token
	switch {
	case t.kind == tokenValue:
		return p.literal(t.value)
	case t.kind == tokenWord:
		switch t.text {
		case "null":
			return p.literal(message.Null())
		case "true":
			return p.literal(message.Bool(true))
		case "false":
			return p.literal(message.Bool(false))
		case "mod":
			return p.nameOrCall()
		}
	case t.kind == tokenName:
		return p.nameOrCall()
	case p.is(tokenSymbol, "("):
		if err := p.enter(); err != nil {
			return nil, err
		}
		defer p.leave()
		if err := p.advance(); err != nil {
			return nil, err
		}
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		return n, p.expect(tokenSymbol, ")")
	}
	return nil, p.unexpected(wantOperand)
}

func (p *parser) literal(v message.Value) (*node, *Error) {
	n := constant(v)
	n.offset = p.token.offset
	return n, p.advance()
}

func (p *parser) nameOrCall() (*node, *Error) {
	t := p.token
	if err := p.advance(); err != nil {
		return nil, err
	}
	lower := strings.ToLower(t.text)
	if !t.quoted {
		if p.is(tokenSymbol, "(") || t.kind == tokenWord {
			return p.call(lower, t.offset)
		}
		if p.token.kind == tokenValue && p.token.value.Kind() == message.KindString &&
			(lower == "date" || lower == "timestamp") {
			return p.instant(lower)
		}
	}
	slot, ok := p.slots[t.text]
	if !ok {
		slot = len(p.names)
		p.slots[t.text] = slot
		p.names = append(p.names, t.text)
	}
	return &node{op: opName, name: t.text, slot: slot, offset: t.offset, height: 1}, nil
}

// instant reads what follows date or timestamp.
func (p *parser) instant(word string) (*node, *Error) {
	text := p.token.value.AsString()
	t, err := message.ParseTime(text)
	if err != nil || word == "date" && len(text) > len("2006-01-02") {
		hint := "write timestamp '2026-01-02 03:04:05' or timestamp '2026-01-02T03:04:05Z'"
		if word == "date" {
			hint = "write date '2026-01-02'"
		}
		return nil, p.errorf(p.token.offset, hint, "%q is no %s", shorten(text), word)
	}
	return p.literal(message.Time(t))
}

func (p *parser) call(name string, offset int) (*node, *Error) {
	f, ok := functionNames[name]
	if !ok {
		return nil, p.errorf(offset, didYouMean(name, functionList()), "unknown function %s", shorten(name))
	}
	if err := p.expect(tokenSymbol, "("); err != nil {
		return nil, err
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	var args []*node
	for {
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		args = append(args, n)
		if more, err := p.accept(tokenSymbol, ","); err != nil {
			return nil, err
		} else if !more {
			break
		}
	}
	if err := p.expect(tokenSymbol, ")"); err != nil {
		return nil, err
	}
	if want := functions[f].args; len(args) != want {
		return nil, p.errorf(offset, "", "%s takes %d argument(s), not %d", name, want, len(args))
	}
	n, err := p.node(opCall, offset, args...)
	if err != nil {
		return nil, err
	}
	n.function = f
	return n, nil
}
