package mysql

import (
	"math"
	"strconv"

	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// The numbers that values are where a number is asked for.

// counter makes a whole number of any value that counts characters, and the like: one that go-mysql-server can add to
// another.
type counter struct{}

func (counter) typeOf(gms.Type) gms.Type { return types.Int64 }

func (counter) look(ctx *gms.Context, v any) (any, error) {
	n, err := integerOf(ctx, v)
	if err != nil {
		return nil, err
	}
	whole, err := wholeNumberOf(n)
	return max(math.MinInt32, min(math.MaxInt32, whole)), err
}

// integerOf is a value as a number where a whole one is asked for: of a text the digits that it begins with.
func integerOf(ctx *gms.Context, v any) (*apd.Decimal, error) {
	switch v.(type) {
	case string, []byte:
	default:
		return numberOf(ctx, v)
	}
	text := text64(v)
	sign, whole, _, _ := decimalNumber(text[:min(len(text), longestDate)])
	if whole == "" {
		ctx.Warn(1292, "Truncated incorrect INTEGER value: '%.64s'", text)
	}
	n, _, err := apd.NewFromString(sign + "0" + whole)
	return n, err
}

// bitwise makes the 64 bits of any value.
type bitwise struct{ signed bool } // signed: as a number with a sign

func (b bitwise) typeOf(gms.Type) gms.Type {
	if b.signed {
		return types.Int64
	}
	return types.Uint64
}

func (b bitwise) look(ctx *gms.Context, v any) (any, error) {
	n, err := bits64(ctx, v)
	if b.signed {
		return int64(n), err
	}
	return n, err
}

func bits64(ctx *gms.Context, v any) (uint64, error) {
	switch n := v.(type) {
	case uint64:
		return n, nil
	case bool:
	default:
		if n, ok := integer64(v); ok {
			return uint64(n), nil
		}
	}
	d, err := integerOf(ctx, v)
	if err != nil {
		return 0, err
	}
	if d.Exponent < 0 {
		whole := new(apd.Decimal)
		if _, err := apd.BaseContext.WithPrecision(uint32(d.NumDigits())+maxScale).Quantize(whole, d, 0); err != nil {
			return 0, err
		}
		d = whole
	}
	if d.NumDigits()+int64(d.Exponent) <= 20 {
		text := d.Text('f')
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return uint64(n), nil
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return n, nil
		}
	}
	if d.Negative {
		return uint64(1) << 63, nil
	}
	return uint64(math.MaxUint64), nil
}

// real makes a number with a floating point of a document or a text.
type real struct{}

func (real) typeOf(gms.Type) gms.Type { return types.Float64 }

func (real) look(ctx *gms.Context, v any) (any, error) {
	n, err := numberOf(ctx, v)
	if err != nil {
		return nil, err
	}
	f, err := n.Float64()
	if err != nil || math.IsInf(f, 0) { // beyond all
		return math.Copysign(math.MaxFloat64, float64(n.Sign())), nil
	}
	return f, nil
}

// documentNumber is the number that a document is, or that its text begins with; 0 with a warning for another.
func documentNumber(ctx *gms.Context, j gms.JSONWrapper) (*apd.Decimal, error) {
	v, err := j.ToInterface(ctx)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case bool:
		if v {
			return apd.New(1, 0), nil
		}
		return apd.New(0, 0), nil
	case nil, map[string]any, []any:
		ctx.Warn(3156, "Invalid JSON value for CAST to DOUBLE from column <expr>")
		return apd.New(0, 0), nil
	case gms.JSONWrapper:
		return apd.New(0, 0), nil // it is none within itself
	default:
		return numberOf(ctx, v)
	}
}

// bitsOf is an expression that is bits.
func bitsOf(ctx *gms.Context, e gms.Expression) (gms.Expression, bool) {
	if t := e.Type(ctx); t == types.Null || types.IsInteger(t) || isChoice(t) {
		return e, false
	}
	if bits, ok := bitsNumber(e); ok {
		return bits, true
	}
	return &seen[bitwise]{e, bitwise{}}, true
}

// daysOf is a number of days that a date can have; 0 of another.
func daysOf(ctx *gms.Context, e gms.Expression) (gms.Expression, bool) {
	if t := e.Type(ctx); t == types.Null || isSeen[days](e) {
		return e, false
	}
	if number, ok := bitsNumber(e); ok {
		e = number
	}
	return &seen[days]{e, days{}}, true
}

type days struct{}

func (days) typeOf(gms.Type) gms.Type { return types.Int64 }

func (days) look(ctx *gms.Context, v any) (any, error) {
	n, err := counter{}.look(ctx, v)
	if n, ok := n.(int64); ok && n > 3_652_424 { // 9999-12-31
		return int64(0), err
	}
	return n, err
}

// countOf is an expression that counts.
func countOf(ctx *gms.Context, e gms.Expression) (gms.Expression, bool) {
	inner := innermost(e)
	if minus, ok := inner.(*expression.UnaryMinus); ok {
		inner = innermost(minus.Child)
	}
	if l, ok := inner.(*expression.Literal); ok {
		if n, whole := integer64(l.Value()); l.Value() == nil || whole && math.MinInt32 <= n && n <= math.MaxInt32 {
			return e, false
		}
	}
	_, interval := inner.(*expression.Interval)
	if t := e.Type(ctx); interval || t == types.Null || isChoice(t) || isSeen[counter](e) {
		return e, false
	}
	if number, ok := bitsNumber(e); ok {
		e = number
	}
	return &seen[counter]{e, counter{}}, true
}

// isOdd tells whether values of a type are no number to go-mysql-server, or another than to MySQL.
func isOdd(t gms.Type) bool { return types.IsJSON(t) || types.IsTimespan(t) || types.IsTime(t) }

// isLiteral tells whether an expression stands in the statement as it is.
func isLiteral(e gms.Expression) bool {
	_, ok := innermost(e).(*expression.Literal)
	return ok
}

// bitsIn are both sides of an operator of bits, which go-mysql-server makes doubles of where their kinds differ.
func bitsIn(ctx *gms.Context, e *expression.BitOp) (gms.Expression, bool, error) {
	l, r := e.LeftChild.Type(ctx), e.RightChild.Type(ctx)
	if l == r && types.IsInteger(l) || types.IsSigned(l) && types.IsSigned(r) {
		return e, false, nil
	}
	return told(ctx, e, func(_ int, c gms.Expression) (gms.Expression, bool) {
		if t := c.Type(ctx); t == types.Null || isSeen[bitwise](c) {
			return c, false
		}
		if bits, ok := bitsNumber(c); ok {
			return bits, true
		}
		return &seen[bitwise]{c, bitwise{}}, true
	})
}
