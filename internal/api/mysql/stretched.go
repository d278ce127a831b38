package mysql

import (
	"slices"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// stretched is an expression with subqueries, of a GROUP BY with a GROUP_CONCAT. go-mysql-server numbers the columns
// that its subqueries see as if each GROUP_CONCAT up to there had added one to the row. None has when the expression is
// evaluated, so that a subquery would look beside its own columns.
type stretched struct {
	gms.Expression
	by int // columns
}

// stretchedIn is a GROUP BY whose subqueries see rows as they were promised. n is not changed.
func stretchedIn(ctx *gms.Context, n *plan.GroupBy) (*plan.GroupBy, error) {
	joins := func(e gms.Expression) bool { _, is := e.(*aggregation.GroupConcat); return is }
	if !slices.ContainsFunc(n.SelectDeps, joins) {
		return n, nil
	}
	wide := *n
	wide.SelectDeps, wide.GroupByExprs = slices.Clone(n.SelectDeps), slices.Clone(n.GroupByExprs)
	added := 0
	for i, e := range wide.SelectDeps {
		if joins(e) {
			added++
		}
		if _, aggregate := e.(gms.Aggregation); !aggregate {
			wide.SelectDeps[i] = stretchedOf(ctx, e, added)
			continue
		}
		order := 0 // of the first children, for whose evaluation a text is there behind the row
		if g, ok := e.(*aggregation.GroupConcat); ok {
			order = len(g.Children()) - len(g.OutputExpressions())
		}
		children := slices.Clone(e.Children())
		for k, c := range children {
			by := added
			if k < order {
				by--
			}
			children[k] = stretchedOf(ctx, c, by)
		}
		var err error
		if wide.SelectDeps[i], err = e.WithChildren(ctx, children...); err != nil {
			return nil, err
		}
	}
	for i, e := range wide.GroupByExprs {
		wide.GroupByExprs[i] = stretchedOf(ctx, e, added)
	}
	return &wide, nil
}

// stretchedOf is e, stretched if it has a subquery.
func stretchedOf(ctx *gms.Context, e gms.Expression, by int) gms.Expression {
	if by == 0 || !transform.InspectExpr(ctx, e, func(_ *gms.Context, e gms.Expression) bool {
		_, is := e.(*plan.Subquery)
		return is
	}) {
		return e
	}
	return &stretched{e, by}
}

// Children is the inner expression alone.
func (w *stretched) Children() []gms.Expression { return []gms.Expression{w.Expression} }

// WithChildren stretches another expression.
func (w *stretched) WithChildren(_ *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	if len(children) != 1 {
		return nil, gms.ErrInvalidChildrenNumber.New(w, len(children), 1)
	}
	return &stretched{children[0], w.by}, nil
}

// CollationCoercibility is the inner expression's.
func (w *stretched) CollationCoercibility(ctx *gms.Context) (gms.CollationID, byte) {
	return gms.GetCoercibility(ctx, w.Expression)
}

// Eval is the inner expression's value for a row with more columns.
func (w *stretched) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	return w.Expression.Eval(ctx, append(slices.Clip(row), make(gms.Row, w.by)...))
}
