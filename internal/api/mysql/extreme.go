package mysql

import (
	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// extreme is GREATEST or LEAST of exact numbers. go-mysql-server compares doubles, which have 53 bits.
type extreme struct {
	gms.Expression // go-mysql-server's
	least          bool
	typ            gms.Type
}

// extremeIn is for a call of which all arguments are exact.
func extremeIn(ctx *gms.Context, e gms.Expression) (gms.Expression, bool) {
	x := extreme{Expression: e}
	switch e.(type) {
	case *function.Greatest:
	case *function.Least:
		x.least = true
	default:
		return e, false
	}
	if !e.Resolved() {
		return e, false
	}
	x.typ = extremeType(ctx, e.Children())
	return &x, x.typ != nil
}

// extremeType is the type of one of several numbers; nil if one of them is not exact.
func extremeType(ctx *gms.Context, args []gms.Expression) gms.Type {
	var n digits10
	whole, unsigned := true, 0
	for i, a := range args {
		typ := a.Type(ctx)
		digits, scale, ok := digitsOf(typ)
		if !ok {
			return nil
		}
		whole = whole && !types.IsDecimal(typ)
		if isUnsigned(ctx, a) {
			unsigned++
		}
		if one := (digits10{digits, scale, false}); i == 0 {
			n = one
		} else {
			n = n.wider(one)
		}
	}
	switch {
	case whole && unsigned == 0:
		return types.Int64
	case whole && unsigned == len(args):
		return types.Uint64
	}
	typ, err := types.CreateDecimalType(uint8(n.digits), uint8(n.scale))
	if err != nil {
		return nil
	}
	return typ
}

func (x *extreme) inner() gms.Expression { return x.Expression }

// FunctionName is the inner expression's.
func (x *extreme) FunctionName() string { return x.Expression.(gms.FunctionExpression).FunctionName() }

// Description is the inner expression's.
func (x *extreme) Description() string { return x.Expression.(gms.FunctionExpression).Description() }

// CollationCoercibility is the inner expression's.
func (x *extreme) CollationCoercibility(ctx *gms.Context) (gms.CollationID, byte) {
	return gms.GetCoercibility(ctx, x.Expression)
}

// Type is the one that all arguments fit into.
func (x *extreme) Type(*gms.Context) gms.Type { return x.typ }

// WithChildren implements gms.Expression.
func (x *extreme) WithChildren(ctx *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	made, err := x.Expression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &extreme{made, x.least, x.typ}, nil
}

// Eval is the argument that is the greatest or the least; NULL if one is NULL.
func (x *extreme) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	var best *apd.Decimal
	for _, c := range x.Children() {
		v, err := c.Eval(ctx, row)
		if err != nil || v == nil {
			return nil, err
		}
		d, err := adder{}.look(ctx, v)
		if err != nil {
			return nil, err
		}
		number, ok := d.(*apd.Decimal)
		if !ok {
			return nil, nil
		}
		if best == nil || (number.Cmp(best) < 0) == x.least && number.Cmp(best) != 0 {
			best = number
		}
	}
	if best == nil {
		return nil, nil
	}
	return x.of(ctx, best)
}

// of is a number as a value of the type.
func (x *extreme) of(ctx *gms.Context, n *apd.Decimal) (any, error) {
	if decimal, ok := x.typ.(gms.DecimalType); ok {
		return roundedTo{decimal}.look(ctx, n)
	}
	if i, err := n.Int64(); err == nil && (i >= 0 || x.typ == types.Int64) {
		if x.typ == types.Int64 {
			return i, nil
		}
		return uint64(i), nil
	}
	v, _, err := x.typ.Convert(ctx, n)
	return v, err
}
