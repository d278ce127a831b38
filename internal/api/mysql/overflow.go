package mysql

import (
	"math"
	"math/bits"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Calculations whose result no number is large enough for. go-mysql-server goes on with what is left of it: a negative
// number behind the largest, an infinity.

// summed is a sum, a difference or a product of whole numbers.
type summed struct {
	*expression.Arithmetic
	unsigned bool // one of them has no sign, and so the result has none
}

// overflowIn is a calculation that ends with an error where its result is out of range.
func overflowIn(ctx *gms.Context, e gms.Expression) (gms.Expression, bool) {
	switch f := e.(type) {
	case *expression.Arithmetic:
		left, right := f.LeftChild.Type(ctx), f.RightChild.Type(ctx)
		switch {
		case types.IsInteger(left) && types.IsInteger(right):
			s := sessionOf(ctx)
			signed := f.Op == "-" && s != nil && s.mode.ModeEnabled(gms.NoUnsignedSubtraction)
			return &summed{f, !signed && (isUnsigned(ctx, f.LeftChild) || isUnsigned(ctx, f.RightChild))}, true
		case types.IsFloat(f.Type(ctx)):
			return &seen[finite]{f, finite{f.String()}}, true
		}
	case *expression.Div, *function.Power:
		if types.IsFloat(f.Type(ctx)) {
			return &seen[finite]{e, finite{e.String()}}, true
		}
	case *clocked:
		switch t := f.Type(ctx); {
		case reals[f.name].eval == nil:
		case types.IsFloat(t):
			return &seen[finite]{e, finite{e.String()}}, true
		case t == types.Int64:
			return &seen[pointless]{e, pointless{}}, true
		}
	case *grown:
		if r, ok := realRoundedOf(ctx, f); ok {
			return &seen[finite]{r, finite{e.String()}}, true
		}
	case *realRounded:
		if !types.IsFloat(f.Children()[0].Type(ctx)) { // a sum that is exact, as is known by now
			if r, ok := roundedOf(ctx, f.grown); ok {
				return &seen[roundedTo]{f.grown, r}, true
			}
			return f.grown, true
		}
	case *function.AbsVal:
		if types.IsInteger(f.Type(ctx)) {
			return &seen[positive]{e, positive{e.String()}}, true
		}
	case *expression.UnaryMinus:
		if _, literal := f.Child.(*expression.Literal); !literal && types.IsInteger(f.Child.Type(ctx)) {
			return expression.NewUnaryMinus(&seen[negatable]{f.Child, negatable{e.String()}}), true
		}
	}
	return e, false
}

// isUnsigned tells whether a whole number has no sign to MySQL. go-mysql-server has types without one for more.
func isUnsigned(ctx *gms.Context, e gms.Expression) bool {
	e = innermost(e)
	if values := ofOne(e); values != nil {
		for _, v := range values {
			if isUnsigned(ctx, v) {
				return true
			}
		}
		return false
	}
	switch f := e.(type) {
	case *summed:
		return f.unsigned
	case *expression.Literal:
		n, ok := f.Value().(uint64)
		return ok && n > math.MaxInt64
	case *expression.GetField, *expression.Convert, *expression.BitOp, *function.Crc32, *clocked:
		return types.IsUnsigned(e.Type(ctx))
	}
	return false
}

// WithChildren implements gms.Expression.
func (s *summed) WithChildren(ctx *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	made, err := s.Arithmetic.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &summed{made.(*expression.Arithmetic), s.unsigned}, nil
}

// Type is BIGINT, with or without a sign.
func (s *summed) Type(*gms.Context) gms.Type {
	if s.unsigned {
		return types.Uint64
	}
	return types.Int64
}

// Eval is the result, if there is a number for it.
func (s *summed) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	left, err := s.LeftChild.Eval(ctx, row)
	if err != nil || left == nil {
		return nil, err
	}
	right, err := s.RightChild.Eval(ctx, row)
	if err != nil || right == nil {
		return nil, err
	}
	a, known := signedOf(left)
	b, also := signedOf(right)
	if !known || !also { // it knows more kinds of values
		literals, err := s.Arithmetic.WithChildren(ctx, expression.NewLiteral(left, s.LeftChild.Type(ctx)),
			expression.NewLiteral(right, s.RightChild.Type(ctx)))
		if err != nil {
			return nil, err
		}
		return literals.Eval(ctx, row)
	}
	var n signed
	var ok bool
	switch s.Op {
	case "*":
		n, ok = a.times(b)
	case "-":
		n, ok = a.plus(signed{!b.negative, b.size})
	default:
		n, ok = a.plus(b)
	}
	switch {
	case !ok:
	case s.unsigned && (!n.negative || n.size == 0):
		return n.size, nil
	case s.unsigned:
	case n.negative && n.size <= 1<<63:
		return -int64(n.size), nil // of the smallest number it is itself
	case !n.negative && n.size <= math.MaxInt64:
		return int64(n.size), nil
	}
	kind := "BIGINT"
	if s.unsigned {
		kind = "BIGINT UNSIGNED"
	}
	return nil, outOfRange(kind, s.String())
}

func outOfRange(kind, what string) error {
	return sqlError(1690, "22003", "%s value is out of range in '%s'", kind, head(what, maxShown))
}

// signed is a whole number of 64 bits and a sign.
type signed struct {
	negative bool
	size     uint64
}

// signedOf is a value of a column or a calculation; false: it is of another type.
func signedOf(v any) (signed, bool) {
	var n int64
	switch v := v.(type) {
	case int64:
		n = v
	case int32:
		n = int64(v)
	case int16:
		n = int64(v)
	case int8:
		n = int64(v)
	case int:
		n = int64(v)
	case uint64:
		return signed{size: v}, true
	case uint32:
		return signed{size: uint64(v)}, true
	case uint16:
		return signed{size: uint64(v)}, true
	case uint8:
		return signed{size: uint64(v)}, true
	case bool:
		if v {
			n = 1
		}
	default:
		return signed{}, false
	}
	if n < 0 {
		return signed{true, -uint64(n)}, true
	}
	return signed{size: uint64(n)}, true
}

// plus is false where it has more than 64 bits.
func (a signed) plus(b signed) (signed, bool) {
	switch {
	case a.negative == b.negative:
		sum, more := bits.Add64(a.size, b.size, 0)
		return signed{a.negative, sum}, more == 0
	case a.size >= b.size:
		return signed{a.negative, a.size - b.size}, true
	}
	return signed{b.negative, b.size - a.size}, true
}

func (a signed) times(b signed) (signed, bool) {
	more, product := bits.Mul64(a.size, b.size)
	return signed{a.negative != b.negative, product}, more == 0
}

// finite is a calculation with a floating point.
type finite struct{ text string }

func (f finite) look(_ *gms.Context, v any) (any, error) {
	if n, ok := v.(float64); ok && (math.IsInf(n, 0) || math.IsNaN(n)) {
		return nil, outOfRange("DOUBLE", f.text)
	}
	return v, nil
}

// positive is a number without its sign: the smallest of 64 bits has none.
type positive struct{ text string }

func (p positive) look(_ *gms.Context, v any) (any, error) {
	if n, ok := signedOf(v); ok && n.negative {
		return nil, outOfRange("BIGINT", p.text)
	}
	return v, nil
}

// negatable is a whole number before a minus. go-mysql-server keeps to the bits of its type.
type negatable struct{ text string }

func (negatable) typeOf(inner gms.Type) gms.Type {
	if types.IsUnsigned(inner) {
		return types.Int64
	}
	return inner
}

func (n negatable) look(_ *gms.Context, v any) (any, error) {
	switch of, ok := signedOf(v); {
	case !ok || of.negative && of.size <= math.MaxInt64:
		return v, nil
	case of.negative || of.size > 1<<63:
		return nil, outOfRange("BIGINT", n.text)
	case of.size == 1<<63: // the smallest number
		return of.size, nil
	default:
		return int64(of.size), nil
	}
}
