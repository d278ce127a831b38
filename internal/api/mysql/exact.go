package mysql

import (
	"slices"

	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// SUM and AVG of exact numbers are exact in MySQL: DECIMAL with more digits. go-mysql-server makes doubles of integers,
// and calls the columns of all of them DOUBLE.

// exactly are the arguments of SUM or AVG, which are decimals if they are exact.
func exactly(ctx *gms.Context, name string, args []gms.Expression) []gms.Expression {
	if len(args) != 1 {
		return args
	}
	if number, ok := numeralOf(ctx, args[0], false); ok && types.IsTime(args[0].Type(ctx)) ||
		types.IsTimespan(args[0].Type(ctx)) { // of dates and times MySQL adds up the numbers
		args = []gms.Expression{number}
	}
	digits, scale, ok := digitsOf(args[0].Type(ctx))
	if !ok {
		if types.IsText(args[0].Type(ctx)) { // windows add up no texts
			return []gms.Expression{expression.NewConvert(args[0], expression.ConvertToDouble)}
		}
		return args
	}
	if name == "avg" {
		digits, scale = digits+4, scale+4
	} else {
		digits += 22
	}
	typ, err := types.CreateDecimalType(uint8(min(digits, types.DecimalTypeMaxPrecision)),
		uint8(min(scale, types.DecimalTypeMaxScale)))
	if err != nil {
		return args
	}
	return []gms.Expression{&seen[adder]{args[0], adder{typ}}}
}

// digitsOf are the digits of an exact number, and how many of them stand behind the point.
func digitsOf(t gms.Type) (digits, scale int, ok bool) {
	switch d, decimal := t.(gms.DecimalType); {
	case decimal:
		return int(d.Precision()), int(d.Scale()), true
	case isChoice(t), types.IsBit(t), !types.IsInteger(t) && !types.IsYear(t):
		return 0, 0, false
	}
	switch t {
	case types.Int8, types.Uint8, types.Boolean:
		return 3, 0, true
	case types.Int16, types.Uint16:
		return 5, 0, true
	case types.Int24:
		return 7, 0, true
	case types.Uint24:
		return 8, 0, true
	case types.Int32, types.Uint32:
		return 10, 0, true
	case types.Int64:
		return 19, 0, true
	case types.Uint64:
		return 20, 0, true
	}
	return 4, 0, true // a year
}

// adder makes decimals of what is added up. typ is the result's, because go-mysql-server takes it from the argument.
type adder struct{ typ gms.Type }

func (a adder) typeOf(gms.Type) gms.Type { return a.typ }

func (a adder) look(ctx *gms.Context, v any) (any, error) {
	if _, is := v.(*apd.Decimal); is {
		return v, nil
	}
	if n, ok := integer64(v); ok {
		return apd.New(n, 0), nil
	}
	d, _, err := types.InternalDecimalType.Convert(ctx, v)
	return d, err
}

// integer64 is a whole number that fits into 64 bits with a sign.
func integer64(v any) (int64, bool) {
	switch v := v.(type) {
	case int8:
		return int64(v), true
	case int16:
		return int64(v), true
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case uint8:
		return int64(v), true
	case uint16:
		return int64(v), true
	case uint32:
		return int64(v), true
	}
	return 0, false
}

// exactIn is a plan in which the columns of exact sums have their type, and what adds up such a column of a derived
// table is exact itself.
func exactIn(ctx *gms.Context, n gms.Node) (gms.Node, transform.TreeIdentity, error) {
	all := transform.SameTree
	for range maxSumsOfSums {
		made, same, derived, err := exactOnce(ctx, n)
		if err != nil {
			return nil, same, err
		}
		n, all = made, all && same
		if same == transform.SameTree || !derived {
			break
		}
	}
	return n, all, nil
}

// maxSumsOfSums is how many sums of sums of sums are exact.
const maxSumsOfSums = 8

// exactOnce is exactIn of the sums whose type is known. derived tells that there are derived tables.
func exactOnce(ctx *gms.Context, n gms.Node) (made gms.Node, same transform.TreeIdentity, derived bool, err error) {
	sums := map[gms.ColumnId]gms.Type{}
	transform.InspectWithOpaque(ctx, n, func(ctx *gms.Context, n gms.Node) bool {
		switch n := n.(type) {
		case *plan.GroupBy:
			for _, e := range n.SelectDeps {
				if id, typ := sumOf(ctx, e); typ != nil {
					sums[id] = typ
				}
			}
		case *plan.Window:
			for _, e := range n.SelectExprs {
				if id, typ := sumOf(ctx, e); typ != nil {
					sums[id] = typ
				}
			}
		case *plan.SubqueryAlias:
			derived = true
			schema, i := n.Schema(ctx), 0
			if n.Columns().Len() != len(schema) {
				break
			}
			n.Columns().ForEach(func(id gms.ColumnId) { // from the first column to the last
				if types.IsDecimal(schema[i].Type) {
					sums[id] = schema[i].Type
				}
				i++
			})
		}
		return true
	})
	if len(sums) == 0 {
		return n, transform.SameTree, derived, nil
	}
	made, same, err = transform.NodeExprsWithOpaque(ctx, n,
		func(ctx *gms.Context, e gms.Expression) (gms.Expression, transform.TreeIdentity, error) {
			switch f := e.(type) {
			case *expression.GetField:
				own := f.Type(ctx)
				if typ := sums[f.Id()]; typ != nil && (own == types.Float64 || own.Equals(types.InternalDecimalType)) &&
					!own.Equals(typ) {
					exact := expression.NewGetFieldWithTable(f.Index(), int(f.TableId()), typ, f.Database(), f.Table(),
						f.Name(), f.IsNullable(ctx))
					return exact.WithId(f.Id()), transform.NewTree, nil
				}
			case *aggregation.Sum:
				return addedUp(ctx, "sum", f, f.Child)
			case *aggregation.Avg:
				return addedUp(ctx, "avg", f, f.Child)
			}
			return e, transform.SameTree, nil
		})
	return made, same, derived, err
}

// addedUp is a SUM or an AVG of what is known to be exact by now.
func addedUp(ctx *gms.Context, name string, e, of gms.Expression) (gms.Expression, transform.TreeIdentity, error) {
	if isSeen[adder](of) || !of.Resolved() || !types.IsDecimal(of.Type(ctx)) {
		return e, transform.SameTree, nil
	}
	made, err := e.WithChildren(ctx, exactly(ctx, name, []gms.Expression{of})...)
	return made, transform.NewTree, err
}

// sumOf is the number and the type of a sum, or of the greatest or least of some, that is exact; nil for other
// expressions.
func sumOf(ctx *gms.Context, e gms.Expression) (gms.ColumnId, gms.Type) {
	switch e := e.(type) {
	case *aggregation.Sum:
		if slices.ContainsFunc(e.Children(), isSeen[adder]) {
			return e.Id(), e.Child.Type(ctx)
		}
	case *aggregation.Avg:
		if slices.ContainsFunc(e.Children(), isSeen[adder]) {
			return e.Id(), e.Child.Type(ctx)
		}
	case *aggregation.Max, *aggregation.Min:
		if typ := e.Type(ctx); e.Resolved() && types.IsDecimal(typ) {
			return e.(gms.IdExpression).Id(), typ
		}
	}
	return 0, nil
}
