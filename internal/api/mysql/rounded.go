package mysql

import (
	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// roundedTo is what ROUND or TRUNCATE makes of a DECIMAL, which has as many digits behind the point as are asked for.
type roundedTo struct{ typ gms.DecimalType }

func (r roundedTo) typeOf(gms.Type) gms.Type { return r.typ }

func (r roundedTo) look(_ *gms.Context, v any) (any, error) {
	d, ok := v.(*apd.Decimal)
	if !ok {
		return v, nil
	}
	fit := new(apd.Decimal)
	_, err := apd.BaseContext.WithPrecision(uint32(d.NumDigits())+maxScale).Quantize(fit, d, -int32(r.typ.Scale()))
	if fit.IsZero() {
		fit.Negative = false
	}
	return fit, err
}

// roundedOf is for a call of ROUND or TRUNCATE; false where nobody knows how many digits it makes until it has made
// them.
func roundedOf(ctx *gms.Context, e gms.Expression) (roundedTo, bool) {
	g, ok := e.(*grown)
	if !ok || g.name != "round" && g.name != "truncate" || !g.Resolved() {
		return roundedTo{}, false
	}
	args := g.Children()
	of, ok := args[0].Type(ctx).(gms.DecimalType)
	if !ok {
		return roundedTo{}, false
	}
	scale := 0
	if len(args) > 1 {
		to := args[1]
		minus, negative := to.(*expression.UnaryMinus)
		if negative {
			to = minus.Child
		}
		n, ok := to.(*expression.Literal)
		if !ok { // MySQL has the digits of the number then
			return roundedTo{of}, true
		}
		if !types.IsInteger(n.Type(ctx)) || n.Value() == nil {
			return roundedTo{}, false
		}
		if !negative {
			scale = int(max(0, min(number64(n.Value()), types.DecimalTypeMaxScale)))
		}
	}
	digits := int(of.Precision()) - int(of.Scale()) + scale
	if scale < int(of.Scale()) && g.name == "round" {
		digits++
	}
	typ, err := types.CreateDecimalType(uint8(max(1, scale, min(digits, types.DecimalTypeMaxPrecision))), uint8(scale))
	if err != nil {
		return roundedTo{}, false
	}
	return roundedTo{typ}, true
}
