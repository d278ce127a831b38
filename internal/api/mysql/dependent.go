package mysql

import (
	"slices"
	"sync"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// groupingRule is the name of go-mysql-server's rule of ONLY_FULL_GROUP_BY.
const groupingRule = "validateGroupBy"

// groupingLooksIntoSubqueries makes the rule of ONLY_FULL_GROUP_BY look at what a subquery reads of the query around
// it: by itself it refuses every subquery beside a GROUP BY. It has to be called before an analyzer is built.
var groupingLooksIntoSubqueries = sync.OnceFunc(func() { changeRule(groupingRule, dependent) })

// changeRule puts another in the place of one of go-mysql-server's rules that are applied once, before the others.
func changeRule(name string, change func(analyzer.RuleFunc) analyzer.RuleFunc) {
	for i, rule := range analyzer.OnceBeforeDefault {
		if rule.Id.String() == name {
			analyzer.OnceBeforeDefault[i].Apply = change(rule.Apply)
		}
	}
}

// dependent lets a rule see subqueries as the columns that they read of the query around them.
func dependent(rule analyzer.RuleFunc) analyzer.RuleFunc {
	return func(ctx *gms.Context, a *analyzer.Analyzer, n gms.Node, scope *plan.Scope, sel analyzer.RuleSelector,
		flags *gms.QueryFlags) (gms.Node, transform.TreeIdentity, error) {
		if !analyzer.FlagIsSet(flags, gms.QFlagAggregation) {
			return n, transform.SameTree, nil
		}
		aggregates := map[gms.ColumnId]string{}
		seen, _, err := transform.NodeWithOpaque(ctx, n,
			func(ctx *gms.Context, n gms.Node) (gms.Node, transform.TreeIdentity, error) {
				switch n := n.(type) {
				case *plan.GroupBy:
					for _, e := range n.SelectDeps {
						if known, ok := e.(gms.IdExpression); ok {
							aggregates[known.Id()] = e.String()
						}
					}
				case *plan.Project, *plan.Sort:
				default:
					return n, transform.SameTree, nil
				}
				of, _ := n.(gms.Expressioner)
				all := slices.Clone(of.Expressions())
				for i, e := range all {
					var err error
					if all[i], err = readBy(ctx, renamed(ctx, e, aggregates)); err != nil {
						return nil, transform.SameTree, err
					}
				}
				n, err := of.WithExpressions(ctx, all...)
				return n, transform.NewTree, err
			})
		if err == nil {
			_, _, err = rule(ctx, a, seen, scope, sel, flags)
		}
		return n, transform.SameTree, err
	}
}

// renamed is an expression that calls aggregates as they are called now: the rule knows them by their texts, and that
// of a subquery changes while it is planned.
func renamed(ctx *gms.Context, e gms.Expression, aggregates map[gms.ColumnId]string) gms.Expression {
	e, _, _ = transform.Expr(ctx, e,
		func(ctx *gms.Context, e gms.Expression) (gms.Expression, transform.TreeIdentity, error) {
			column, ok := e.(*expression.GetField)
			if !ok || aggregates[column.Id()] == "" {
				return e, transform.SameTree, nil
			}
			name := aggregates[column.Id()]
			return expression.NewGetField(column.Index(), column.Type(ctx), name, column.IsNullable(ctx)),
				transform.NewTree, nil
		})
	return e
}

// readBy is an expression with what its subqueries read in their places. It is to be looked at, and not evaluated.
func readBy(ctx *gms.Context, e gms.Expression) (gms.Expression, error) {
	if sub, ok := e.(*plan.Subquery); ok {
		return readOutside(ctx, sub)
	}
	subquery := transform.InspectExpr(ctx, e, func(_ *gms.Context, e gms.Expression) bool {
		_, ok := e.(*plan.Subquery)
		return ok
	})
	if _, sums := e.(gms.Aggregation); sums || !subquery {
		return e, nil
	}
	parts := slices.Clone(e.Children())
	for i, part := range parts {
		var err error
		if parts[i], err = readBy(ctx, part); err != nil {
			return nil, err
		}
	}
	if _, named := e.(*expression.Alias); named {
		return e.WithChildren(ctx, parts...)
	}
	return expression.NewTuple(parts...), nil
}

// readOutside are the columns that a subquery reads of the queries around it; a literal when there are none.
func readOutside(ctx *gms.Context, sub *plan.Subquery) (gms.Expression, error) {
	columns, err := columnsOutside(ctx, sub)
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return expression.NewLiteral(int8(1), types.Int8), nil
	}
	all := make([]gms.Expression, len(columns))
	for i, c := range columns {
		all[i] = c
	}
	return expression.NewTuple(all...), nil
}

// columnsOutside are the columns that a subquery reads of the queries around it.
func columnsOutside(ctx *gms.Context, sub *plan.Subquery) (columns []*expression.GetField, err error) {
	outside := sub.Correlated()
	if outside.Len() == 0 {
		return nil, nil
	}
	_, _, err = eachExpression(ctx, sub.Query, func(_ gms.Node, e gms.Expression) gms.Expression {
		if column, ok := e.(*expression.GetField); ok && outside.Contains(column.Id()) {
			columns = append(columns, column)
		}
		return nil
	})
	return columns, err
}
