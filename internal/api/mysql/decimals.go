package mysql

import (
	"strings"

	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// digits10 are the digits of an exact number that is computed. digits is 0 where nothing tells.
type digits10 struct {
	digits, scale int // scale of them stand behind the point
	unsigned      bool
}

// moreOfQuotient is how many digits a quotient has behind the point besides those of what is divided
// (div_precision_increment), moreOfAverage those of an average, and moreOfSum how many a sum has before it.
const moreOfQuotient, moreOfAverage, moreOfSum = 4, 4, 22

func (n digits10) whole() int { return n.digits - n.scale }

// fit keeps to what a DECIMAL can have.
func (n digits10) fit() digits10 {
	n.scale = min(n.scale, types.DecimalTypeMaxScale)
	n.digits = max(1, n.scale, min(n.digits, types.DecimalTypeMaxPrecision))
	return n
}

// columnType is the type of a column with these digits, whose values are written with just so many behind the point.
func (n digits10) columnType() gms.Type {
	typ, err := types.CreateColumnDecimalType(uint8(n.digits), uint8(n.scale))
	if err != nil {
		return nil
	}
	return typ
}

// wider are the digits of what is one of two numbers.
func (n digits10) wider(other digits10) digits10 {
	scale := max(n.scale, other.scale)
	return digits10{max(n.whole(), other.whole()) + scale, scale, n.unsigned && other.unsigned}.fit()
}

// exact is how many digits a number has as MySQL computes; false where it is not exact or nothing tells.
func (t teller) exact(e gms.Expression) (digits10, bool) {
	if sum, ok := e.(*seen[adder]); ok {
		e = sum.Expression
	}
	if e == nil {
		return digits10{}, false
	}
	own := e.Type(t.Context)
	e, t = t.origin(e)
	switch f := e.(type) {
	case nil:
		return digits10{}, false
	case *expression.Literal:
		return t.literalDigits(f)
	case *expression.GetField:
		n, scale, ok := digitsOf(f.Type(t.Context))
		known := n < types.DecimalTypeMaxPrecision || scale < types.DecimalTypeMaxScale
		return digits10{n, scale, types.IsUnsigned(f.Type(t.Context))}, ok && (known || f.Database() != "")
	case *expression.DistinctExpression:
		return t.exact(f.Child)
	case *expression.Convert:
		if whole, ok := wholeOf(f); ok && types.IsDecimal(own) {
			return digits10{int(whole.typ.Precision()), 0, false}, true
		}
	case *expression.UnaryMinus:
		n, ok := t.exact(f.Child)
		if _, literal := innermost(f.Child).(*expression.Literal); !literal {
			n.digits++
		}
		return digits10{n.digits, n.scale, false}.fit(), ok
	case *summed:
		return t.combined(f.Op, f.LeftChild, f.RightChild)
	case *expression.Arithmetic:
		return t.combined(f.Op, f.LeftChild, f.RightChild)
	case *expression.Div:
		return t.combined("/", f.LeftChild, f.RightChild)
	case *expression.Mod:
		return t.combined("%", f.LeftChild, f.RightChild)
	case *aggregation.Sum:
		n, ok := t.exact(f.Child)
		return digits10{n.digits + moreOfSum, n.scale, false}.fit(), ok
	case *aggregation.Avg:
		n, ok := t.exact(f.Child)
		return digits10{n.digits + moreOfAverage, n.scale + moreOfAverage, false}.fit(), ok
	}
	if values := ofOne(e); values != nil {
		return t.widest(values)
	}
	n, scale, ok := digitsOf(own)
	ok = ok && (n < types.DecimalTypeMaxPrecision || scale < types.DecimalTypeMaxScale) // the type of what is not known
	return digits10{n, scale, types.IsUnsigned(own)}, ok
}

// literalDigits are those that stand in the statement.
func (t teller) literalDigits(l *expression.Literal) (digits10, bool) {
	switch v := l.Value().(type) {
	case nil:
		return digits10{}, false
	case bool:
		return digits10{digits: 1}, true
	case *apd.Decimal:
		n, scale, ok := digitsOf(l.Type(t.Context))
		if l.Type(t.Context).Equals(types.InternalDecimalType) { // of a whole number that no BIGINT has room for
			n, scale = int(v.NumDigits()), int(max(0, -v.Exponent))
		}
		return digits10{digits: n, scale: scale}, ok
	case int8, int16, int32, int64, uint8, uint16, uint32, uint64:
		return digits10{digits: len(strings.TrimPrefix(text64(v), "-"))}, true
	}
	return digits10{}, false
}

// combined are the digits of a calculation.
func (t teller) combined(op string, left, right gms.Expression) (n digits10, ok bool) {
	a, ok := t.exact(left)
	if !ok {
		return n, false
	}
	b, ok := t.exact(right)
	n.unsigned = a.unsigned && b.unsigned
	switch op {
	case "+", "-":
		n.scale = max(a.scale, b.scale)
		n.digits = max(a.whole(), b.whole()) + 1 + n.scale
	case "*":
		n.digits, n.scale = a.digits+b.digits, a.scale+b.scale
	case "/":
		n.digits, n.scale = a.digits+b.scale+moreOfQuotient, a.scale+moreOfQuotient
	case "%":
		n.digits, n.scale, n.unsigned = max(a.digits, b.digits), max(a.scale, b.scale), a.unsigned
	default:
		return n, false
	}
	return n.fit(), ok
}

// widest are the digits of what is one of several values.
func (t teller) widest(values []gms.Expression) (n digits10, ok bool) {
	for _, v := range values {
		if v == nil || v.Type(t.Context) == types.Null {
			continue
		}
		one, known := t.exact(v)
		switch {
		case !known:
			return n, false
		case !ok:
			n, ok = one, true
		default:
			n = n.wider(one)
		}
	}
	return n, ok
}

// fitted is the value of one of several numbers: it has the digits behind the point of the one that has most.
type fitted struct{ to roundedTo }

func (f fitted) typeOf(gms.Type) gms.Type { return f.to.typ }

func (f fitted) look(ctx *gms.Context, v any) (any, error) {
	if n, ok := integer64(v); ok {
		v = apd.New(n, 0)
	}
	return f.to.look(ctx, v)
}

// fittedIn is for IF, CASE and others of exact numbers.
func fittedIn(ctx *gms.Context, e gms.Expression) (gms.Expression, bool) {
	switch e.(type) {
	case *function.If, *function.IfNull, *function.Coalesce, *expression.Case:
	default:
		return e, false
	}
	if !e.Resolved() || !types.IsDecimal(e.Type(ctx)) {
		return e, false
	}
	n, ok := teller{ctx, nil, nil}.exact(e)
	if !ok {
		return e, false
	}
	typ, err := types.CreateDecimalType(uint8(n.digits), uint8(n.scale))
	if err != nil {
		return e, false
	}
	return &seen[fitted]{e, fitted{roundedTo{typ}}}, true
}
