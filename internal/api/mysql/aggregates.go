package mysql

import (
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// unvarying is a function without arguments, or a variable, in a statement with aggregates: UNIX_TIMESTAMP() -
// MIN(enqueued_at). It depends on no row, but go-mysql-server takes every expression without children, but for
// literals, for a column that is not grouped by. So it gets a child.
type unvarying struct{ gms.Expression }

var oneLiteral = expression.NewLiteral(int8(1), types.Int8)

// Children is a literal that nobody asks.
func (u *unvarying) Children() []gms.Expression { return []gms.Expression{oneLiteral} }

// WithChildren leaves it as it is.
func (u *unvarying) WithChildren(*gms.Context, ...gms.Expression) (gms.Expression, error) {
	return u, nil
}

// IsNonDeterministic is what it is without the child.
func (u *unvarying) IsNonDeterministic() bool {
	n, ok := u.Expression.(gms.NonDeterministicExpression)
	return ok && n.IsNonDeterministic()
}

// CollationCoercibility is as well.
func (u *unvarying) CollationCoercibility(ctx *gms.Context) (gms.CollationID, byte) {
	return gms.GetCoercibility(ctx, u.Expression)
}

// asUnvarying wraps what depends on no row.
func asUnvarying(e gms.Expression) (gms.Expression, transform.TreeIdentity) {
	if len(e.Children()) > 0 {
		return e, transform.SameTree
	}
	switch e.(type) {
	case gms.Aggregation, gms.WindowAggregation, *call:
		return e, transform.SameTree
	case gms.FunctionExpression, *expression.SystemVar, *expression.UserVar:
		return &unvarying{e}, transform.NewTree
	}
	return e, transform.SameTree
}

// unvaryingIn wraps what depends on no row in a plan and its subqueries.
func unvaryingIn(ctx *gms.Context, n gms.Node) (gms.Node, transform.TreeIdentity, error) {
	return transform.NodeExprsWithOpaque(ctx, n,
		func(ctx *gms.Context, e gms.Expression) (gms.Expression, transform.TreeIdentity, error) {
			if sub, ok := e.(*plan.Subquery); ok {
				query, same, err := unvaryingIn(ctx, sub.Query)
				if err != nil || same == transform.SameTree {
					return e, transform.SameTree, err
				}
				return sub.WithQuery(query), transform.NewTree, nil
			}
			wrapped, same := asUnvarying(e)
			return wrapped, same, nil
		})
}
