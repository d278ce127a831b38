package mysql

import (
	"strconv"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// keyName begins the names of columns that keys of a GROUP BY … WITH ROLLUP have.
const keyName = "\x00rollup key "

// firstKey is the number of the first such column, above those that the planner gives: each is known within one SELECT.
const firstKey = 60_000

// rolledKey is an expression that is grouped by, and the column that it has become.
type rolledKey struct {
	text  string
	field *expression.GetField
}

// rolledIn is a plan in which what is grouped by WITH ROLLUP is a column, where it was an expression: what is selected
// is NULL where the group sums up others, and not computed of some row of it.
func rolledIn(ctx *gms.Context, n gms.Node) (gms.Node, transform.TreeIdentity, error) {
	n, keys, err := withColumns(ctx, n, true)
	if err != nil {
		return nil, transform.SameTree, err
	}
	within, same, err := transform.NodeWithOpaque(ctx, n,
		func(ctx *gms.Context, n gms.Node) (gms.Node, transform.TreeIdentity, error) {
			if passesKeys(n) {
				return n, transform.SameTree, nil
			}
			children, changed := append([]gms.Node(nil), n.Children()...), transform.SameTree
			for i, c := range children {
				with, keys, err := withColumns(ctx, c, true)
				if err != nil {
					return nil, transform.SameTree, err
				}
				if len(keys) > 0 {
					children[i], changed = with, transform.NewTree
				}
			}
			if changed == transform.SameTree {
				return n, changed, nil
			}
			n, err := n.WithChildren(ctx, children...)
			return n, transform.NewTree, err
		})
	return within, same && len(keys) == 0, err
}

// passesKeys tells whether a node stands between a GROUP BY and the end of its SELECT.
func passesKeys(n gms.Node) bool {
	switch n.(type) {
	case *plan.Project, *plan.Having, *plan.Filter, *plan.Sort, *plan.TopN, *plan.Distinct, *plan.Limit,
		*plan.Offset:
		return true
	}
	return false
}

// withColumns is a node of a SELECT with columns for its keys. Above the last one nothing stands of the SELECT but what
// adds no columns.
func withColumns(ctx *gms.Context, n gms.Node, last bool) (gms.Node, []rolledKey, error) {
	if g, ok := n.(*plan.GroupBy); ok && rollsUp(g) {
		return withKeys(ctx, g)
	}
	if !passesKeys(n) {
		return n, nil, nil
	}
	_, projects := n.(*plan.Project)
	child, keys, err := withColumns(ctx, n.Children()[0], last && !projects)
	if err != nil || len(keys) == 0 {
		return n, nil, err
	}
	if n, err = n.WithChildren(ctx, child); err != nil {
		return nil, nil, err
	}
	n, _, err = transform.OneNodeExpressions(ctx, n,
		func(_ *gms.Context, e gms.Expression) (gms.Expression, transform.TreeIdentity, error) {
			for _, k := range keys {
				if e.String() == k.text {
					return k.field, transform.NewTree, nil
				}
			}
			return e, transform.SameTree, nil
		})
	if err != nil || !projects || last {
		return n, keys, err
	}
	p := n.(*plan.Project)
	projections := append([]gms.Expression(nil), p.Projections...)
	for _, k := range keys {
		projections = append(projections, k.field)
	}
	return plan.NewProject(ctx, projections, p.Child).WithAliasDeps(p.AliasDeps), keys, nil
}

// withKeys is a GROUP BY that makes a column of each expression that it groups by.
func withKeys(ctx *gms.Context, g *plan.GroupBy) (gms.Node, []rolledKey, error) {
	with := *g
	with.SelectDeps = append([]gms.Expression(nil), g.SelectDeps...)
	with.GroupByExprs = append([]gms.Expression(nil), g.GroupByExprs...)
	var keys []rolledKey
	for i, e := range g.GroupByExprs[:len(g.GroupByExprs)-1] {
		e = innermost(e)
		if _, is := e.(*expression.GetField); is || keyOf(with.SelectDeps, e) {
			continue
		}
		id, name := gms.ColumnId(firstKey+i), keyName+strconv.Itoa(i)
		with.GroupByExprs[i] = expression.NewAlias(ctx, name, e).WithId(id) // who checks the GROUP BY knows it by that
		with.SelectDeps = append(with.SelectDeps, with.GroupByExprs[i])
		keys = append(keys, rolledKey{e.String(),
			expression.NewGetFieldWithTable(int(id), 0, e.Type(ctx), "", "", name, true)})
	}
	if len(keys) == 0 {
		return g, nil, nil
	}
	return &with, keys, nil
}

// keyOf tells whether there is a column for a key.
func keyOf(deps []gms.Expression, key gms.Expression) bool {
	for _, d := range deps {
		if a, ok := d.(*expression.Alias); ok && strings.HasPrefix(a.Name(), keyName) &&
			innermost(a).String() == key.String() {
			return true
		}
	}
	return false
}
