package sql

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/tsurugi/internal/value"
)

// maxDepth is how deep expressions can be nested.
const maxDepth = 200

// expression reads what OR joins.
func (p *parser) expression() (Expr, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.unexpected("an expression that is less deep")
	}
	defer func() { p.depth-- }()
	return p.joined(p.conjunction, "OR")
}

func (p *parser) conjunction() (Expr, error) { return p.joined(p.negation, "AND") }

func (p *parser) sum() (Expr, error) { return p.joined(p.primary, "+", "-", "||") }

// joined reads operands with one of the operators between, from the left.
func (p *parser) joined(operand func() (Expr, error), ops ...string) (Expr, error) {
	x, err := operand()
next:
	for err == nil {
		for _, op := range ops {
			if p.accept(op) {
				var y Expr
				y, err = operand()
				x = &Binary{op, x, y}
				continue next
			}
		}
		return x, nil
	}
	return nil, err
}

func (p *parser) negation() (Expr, error) {
	if !p.accept("NOT") {
		return p.comparison()
	}
	if p.depth++; p.depth > maxDepth {
		return nil, p.unexpected("an expression that is less deep")
	}
	defer func() { p.depth-- }()
	x, err := p.negation()
	return &Unary{"NOT", x}, err
}

func (p *parser) comparison() (Expr, error) {
	x, err := p.sum()
	if err != nil {
		return nil, err
	}
	switch {
	case p.accept("IS", "NOT", "NULL"):
		return &Unary{"IS NOT NULL", x}, nil
	case p.accept("IS", "NULL"):
		return &Unary{"IS NULL", x}, nil
	}
	for _, op := range []string{"=", "<>", "!=", "<=", ">=", "<", ">"} {
		if p.accept(op) {
			y, err := p.sum()
			if op == "!=" {
				op = "<>"
			}
			return &Binary{op, x, y}, err
		}
	}
	return x, nil
}

func (p *parser) primary() (Expr, error) {
	t := p.peek()
	switch t.kind {
	case number:
		p.pos++
		return numeric(t)
	case text:
		p.pos++
		return Literal{value.OfText(t.text)}, nil
	case param:
		p.pos++
		return Param{t.text}, nil
	case quoted:
		p.pos++
		return Column{t.text}, nil
	case word:
		return p.word()
	}
	switch {
	case p.accept("-"):
		if p.depth++; p.depth > maxDepth {
			return nil, p.unexpected("an expression that is less deep")
		}
		defer func() { p.depth-- }()
		x, err := p.primary()
		return negative(x), err
	case p.accept("+"):
		return p.primary()
	case p.accept("("):
		x, err := p.expression()
		if err != nil {
			return nil, err
		}
		return x, p.expect(")")
	}
	return nil, p.unexpected("a value")
}

// negative is -x; of a number it is a number.
func negative(x Expr) Expr {
	l, ok := x.(Literal)
	if !ok {
		return &Unary{"-", x}
	}
	switch v := l.Value; v.Type() {
	case value.Int8:
		return Literal{value.OfInt8(-v.Int())}
	case value.Float8:
		return Literal{value.OfFloat8(-v.Float())}
	case value.Decimal:
		n := v.Coefficient()
		return Literal{value.OfBigDecimal(n.Neg(n), v.Exponent())}
	}
	return &Unary{"-", x}
}

// numeric reads a number: with an exponent it is a DOUBLE, with a point or too long a DECIMAL.
func numeric(t token) (Expr, error) {
	if strings.ContainsAny(t.text, "eE") {
		f, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			return nil, &SyntaxError{t.offset, "no DOUBLE: " + t.text}
		}
		return Literal{value.OfFloat8(f)}, nil
	}
	if n, err := strconv.ParseInt(t.text, 10, 64); err == nil {
		return Literal{value.OfInt8(n)}, nil
	}
	v, err := value.ParseDecimal(t.text)
	if err != nil {
		return nil, &SyntaxError{t.offset, "no number: " + t.text}
	}
	return Literal{v}, nil
}

func (p *parser) word() (Expr, error) {
	t := p.take()
	name := strings.ToUpper(t.text)
	follows := p.peek()
	switch {
	case name == "NULL":
		return Literal{}, nil
	case name == "X" && follows.kind == text:
		p.pos++
		b, err := hex.DecodeString(follows.text)
		if err != nil {
			return nil, &SyntaxError{follows.offset, "no hexadecimal digits"}
		}
		return Literal{value.OfBytes(b)}, nil
	case follows.kind == text && (name == "DATE" || name == "TIME" || name == "TIMESTAMP"):
		return p.temporal(name, p.take())
	case name == "TIME" || name == "TIMESTAMP":
		if p.accept("WITH", "TIME", "ZONE") || p.accept("WITHOUT", "TIME", "ZONE") {
			if p.peek().kind == text {
				return p.temporal(name, p.take())
			}
			return nil, p.unexpected("a time")
		}
	case follows.is("(") && (name == "COUNT" || name == "SUM" || name == "MIN" || name == "MAX"):
		p.pos++
		if name == "COUNT" && p.accept("*") {
			return &Aggregate{Name: name}, p.expect(")")
		}
		x, err := p.expression()
		if err != nil {
			return nil, err
		}
		return &Aggregate{name, x}, p.expect(")")
	}
	if isReserved(name) {
		p.pos--
		return nil, p.unexpected("a value")
	}
	return Column{strings.ToLower(t.text)}, nil
}

// temporal reads DATE '2026-01-02' and the like; a zone in it makes it one with a time zone.
func (p *parser) temporal(name string, t token) (Expr, error) {
	type form struct {
		layout string
		make   func(time.Time) value.Value
	}
	forms := map[string][]form{
		"DATE": {{"2006-01-02", value.OfDate}},
		"TIME": {{"15:04:05.999999999", value.OfTimeOfDay},
			{"15:04:05.999999999Z07:00", value.OfTimeOfDayWithTimeZone}},
		"TIMESTAMP": {{"2006-01-02 15:04:05.999999999", value.OfTimePoint},
			{"2006-01-02 15:04:05.999999999Z07:00", value.OfTimePointWithTimeZone}},
	}
	for _, f := range forms[name] {
		if at, err := time.Parse(f.layout, strings.Replace(t.text, "T", " ", 1)); err == nil {
			return Literal{f.make(at)}, nil
		}
	}
	return nil, &SyntaxError{t.offset, "no " + name + ": " + strconv.Quote(t.text)}
}
