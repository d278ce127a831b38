package mysql

import (
	"slices"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// oneOrZero is a truth as the number that it is. Where go-mysql-server looks for equal rows it takes true for another
// value than 1.
type oneOrZero struct{}

func (oneOrZero) look(_ *gms.Context, v any) (any, error) { return numberOfTruth(v), nil }

// numberOfTruth is 1 or 0 of a truth, and any other value itself.
func numberOfTruth(v any) any {
	if truth, ok := v.(bool); ok {
		if truth {
			return int8(1)
		}
		return int8(0)
	}
	return v
}

// oneOrZeroOf are expressions whose truths are numbers.
func oneOrZeroOf(ctx *gms.Context, expressions []gms.Expression) (all []gms.Expression, changed bool) {
	all = slices.Clone(expressions)
	for i, e := range all {
		alias, named := e.(*expression.Alias)
		if named {
			e = alias.Child
		}
		if e.Type(ctx) != types.Boolean || isSeen[oneOrZero](e) {
			continue
		}
		changed = true
		all[i] = &seen[oneOrZero]{e, oneOrZero{}}
		if named {
			made := *alias
			made.Child = all[i]
			all[i] = &made
		}
	}
	return all, changed
}

// oneOrZeroRows is a subquery's plan whose truths are numbers.
func oneOrZeroRows(ctx *gms.Context, n gms.Node) (gms.Node, bool, error) {
	switch n := n.(type) {
	case *plan.Project:
		if all, changed := oneOrZeroOf(ctx, n.Projections); changed {
			return plan.NewProject(ctx, all, n.Child), true, nil
		}
	case *plan.Distinct, *plan.Sort, *plan.Limit, *plan.Offset, *plan.Having, *plan.TopN:
		child, changed, err := oneOrZeroRows(ctx, n.Children()[0])
		if err != nil || !changed {
			return n, false, err
		}
		made, err := n.WithChildren(ctx, child)
		return made, true, err
	}
	return n, false, nil
}

// conditionsIn is a plan whose conditions are told where they are a lone value, as in WHERE name: what AND, OR and NOT
// combine is told with these.
func conditionsIn(ctx *gms.Context, n gms.Node) (gms.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n,
		func(ctx *gms.Context, n gms.Node) (gms.Node, transform.TreeIdentity, error) {
			switch n.(type) {
			case *plan.Filter, *plan.Having, *plan.JoinNode:
			default:
				return n, transform.SameTree, nil
			}
			holds := n.(gms.Expressioner)
			all, changed := slices.Clone(holds.Expressions()), false
			for i, e := range all {
				if told, is := (telling{ctx}).truth(i, e); is {
					all[i], changed = told, true
				}
			}
			if !changed {
				return n, transform.SameTree, nil
			}
			made, err := holds.WithExpressions(ctx, all...)
			return made, transform.NewTree, err
		})
}
