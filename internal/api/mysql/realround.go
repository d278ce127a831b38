package mysql

import (
	"math"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// realRounded is a call of ROUND or TRUNCATE with a number with a floating point, which MySQL rounds to the even number
// where it is half way. go-mysql-server makes a DECIMAL of it first, which has no room for large numbers.
type realRounded struct{ *grown }

// realRoundedOf is for a call of one of them; false: it is of another number.
func realRoundedOf(ctx *gms.Context, g *grown) (*realRounded, bool) {
	if g.name != "round" && g.name != "truncate" || !g.Resolved() || !types.IsFloat(g.Children()[0].Type(ctx)) {
		return nil, false
	}
	return &realRounded{g}, true
}

// WithChildren implements gms.Expression.
func (r *realRounded) WithChildren(ctx *gms.Context, args ...gms.Expression) (gms.Expression, error) {
	made, err := r.grown.WithChildren(ctx, args...)
	if err != nil {
		return nil, err
	}
	return &realRounded{made.(*grown)}, nil
}

// Type is a DOUBLE.
func (r *realRounded) Type(*gms.Context) gms.Type { return types.Float64 }

// Eval is NULL where an argument is.
func (r *realRounded) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	var values []any
	for _, a := range r.Children() {
		v, err := a.Eval(ctx, row)
		if err != nil || v == nil {
			return nil, err
		}
		values = append(values, v)
	}
	x, err := realOf(ctx, values[0])
	if err != nil {
		return nil, err
	}
	digits := int64(0)
	if len(values) > 1 {
		n, err := integers(ctx, values[1:])
		if err != nil {
			return nil, err
		}
		digits = max(-maxPower, min(maxPower, n[0]))
	}
	to := math.RoundToEven
	if r.name == "truncate" {
		to = math.Trunc
	}
	unit := math.Pow10(int(max(digits, -digits)))
	switch {
	case digits < 0 && math.IsInf(unit, 0):
		return 0.0, nil
	case digits < 0:
		return to(x/unit) * unit, nil
	case math.Abs(x) >= 1<<53 || math.IsInf(x*unit, 0) || math.IsNaN(x*unit): // it has no digits there
		return x, nil
	}
	return to(x*unit) / unit, nil
}

// maxPower is a power of ten that no number has.
const maxPower = 400

// decimals is how many digits it has behind the point; notFixed: nothing tells.
func (r *realRounded) decimals() int {
	args := r.Children()
	if len(args) < 2 {
		return 0
	}
	n, ok := args[1].(*expression.Literal)
	if !ok || !types.IsNumber(n.Type(nil)) || n.Value() == nil {
		return notFixed
	}
	return int(max(0, min(notFixed, number64(n.Value()))))
}

// evened is a number with a floating point that becomes a whole number: the even one where it is half way.
type evened struct{}

func (evened) look(_ *gms.Context, v any) (any, error) {
	switch x := v.(type) {
	case float64:
		return math.RoundToEven(x), nil
	case float32:
		return math.RoundToEven(float64(x)), nil
	}
	return v, nil
}
