package mysql

import (
	"slices"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// carriedIn lets the rows of windows and groups have the columns that subqueries above them read. go-mysql-server looks
// for what is needed there, but not into all subqueries, which then read another column without a word.
func carriedIn(ctx *gms.Context, n gms.Node) (gms.Node, transform.TreeIdentity, error) {
	n, within, err := transform.NodeExprsWithOpaque(ctx, n,
		func(ctx *gms.Context, e gms.Expression) (gms.Expression, transform.TreeIdentity, error) {
			sub, ok := e.(*plan.Subquery)
			if !ok {
				return e, transform.SameTree, nil
			}
			query, same, err := carriedIn(ctx, sub.Query)
			if err != nil || same == transform.SameTree {
				return e, transform.SameTree, err
			}
			return sub.WithQuery(query), transform.NewTree, nil
		})
	if err != nil {
		return nil, within, err
	}
	n, same, err := transform.NodeWithOpaque(ctx, n,
		func(ctx *gms.Context, n gms.Node) (gms.Node, transform.TreeIdentity, error) {
			of, expressive := n.(gms.Expressioner)
			switch n.(type) {
			case *plan.Window, *plan.GroupBy:
				expressive = false // what they read is below them
			}
			if !expressive || len(n.Children()) != 1 {
				return n, transform.SameTree, nil
			}
			read, err := readBySubqueries(ctx, of.Expressions())
			if err != nil || len(read) == 0 {
				return n, transform.SameTree, err
			}
			child, _, same, err := carrying(ctx, n.Children()[0], read)
			if err != nil || same == transform.SameTree {
				return n, transform.SameTree, err
			}
			n, err = n.WithChildren(ctx, child)
			return n, transform.NewTree, err
		})
	return n, within && same, err
}

// readBySubqueries are the columns of queries around them that the subqueries of some expressions read.
func readBySubqueries(ctx *gms.Context, expressions []gms.Expression) (read []*expression.GetField, err error) {
	for _, e := range expressions {
		transform.InspectExpr(ctx, e, func(ctx *gms.Context, e gms.Expression) bool {
			if sub, ok := e.(*plan.Subquery); ok && err == nil {
				var columns []*expression.GetField
				columns, err = columnsOutside(ctx, sub)
				read = append(read, columns...)
			}
			return err != nil
		})
	}
	return read, err
}

// carrying is what stands over a window or groups, or these, with the columns of their tables that are read, and which
// these are.
func carrying(ctx *gms.Context, n gms.Node, read []*expression.GetField) (gms.Node, []*expression.GetField,
	transform.TreeIdentity, error) {
	switch n := n.(type) {
	case *plan.Window:
		read = readOf(n.Child, read)
		if more := missing(n.SelectExprs, read); len(more) > 0 {
			wide := plan.NewWindow(append(slices.Clone(n.SelectExprs), more...), n.Child)
			return wide, read, transform.NewTree, nil
		}
		return n, read, transform.SameTree, nil
	case *plan.GroupBy:
		read = readOf(n.Child, read)
		if more := missing(n.SelectDeps, read); len(more) > 0 {
			wide := plan.NewGroupBy(append(slices.Clone(n.SelectDeps), more...), n.GroupByExprs, n.Child)
			return wide, read, transform.NewTree, nil
		}
		return n, read, transform.SameTree, nil
	case *plan.Project:
		child, read, same, err := carrying(ctx, n.Child, read)
		more := missing(n.Projections, read)
		if err != nil || same && len(more) == 0 {
			return n, read, transform.SameTree, err
		}
		wide := plan.NewProject(ctx, append(slices.Clone(n.Projections), more...), child)
		return wide, read, transform.NewTree, nil
	case *plan.Sort, *plan.Filter, *plan.Having, *plan.Limit, *plan.Offset, *plan.TopN:
		child, read, same, err := carrying(ctx, n.Children()[0], read)
		if err != nil || same == transform.SameTree {
			return n, read, same, err
		}
		carries, err := n.WithChildren(ctx, child)
		return carries, read, transform.NewTree, err
	}
	return n, nil, transform.SameTree, nil
}

// readOf are those of columns that are of the tables of a node.
func readOf(n gms.Node, columns []*expression.GetField) []*expression.GetField {
	var there gms.ColSet
	transform.Inspect(n, func(n gms.Node) bool {
		if table, ok := n.(plan.TableIdNode); ok {
			there = there.Union(table.Columns())
		}
		return true
	})
	return slices.DeleteFunc(slices.Clone(columns), func(c *expression.GetField) bool {
		return !there.Contains(c.Id())
	})
}

// missing are those columns that are not among expressions.
func missing(expressions []gms.Expression, columns []*expression.GetField) (more []gms.Expression) {
	for _, c := range columns {
		if !slices.ContainsFunc(append(expressions, more...), func(e gms.Expression) bool {
			known, ok := e.(*expression.GetField)
			return ok && known.Id() == c.Id()
		}) {
			more = append(more, c)
		}
	}
	return more
}
