package mysql

import (
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// unionsIn is a plan in which both sides of a UNION and its like have numbers that those of either fit into.
// go-mysql-server converts them to a DECIMAL without digits behind the point where one is a DECIMAL.
func unionsIn(ctx *gms.Context, n gms.Node) (gms.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, unionIn)
}

func unionIn(ctx *gms.Context, n gms.Node) (gms.Node, transform.TreeIdentity, error) {
	set, ok := n.(*plan.SetOp)
	if !ok {
		return n, transform.SameTree, nil
	}
	left, ok := set.Left().(*plan.Project)
	right, also := set.Right().(*plan.Project)
	if !ok || !also || len(left.Projections) != len(right.Projections) {
		return n, transform.SameTree, nil
	}
	some := false
	lefts, rights := cloned(left.Projections), cloned(right.Projections)
	for i := range lefts {
		l, cuts := cutting(ctx, lefts[i])
		r, also := cutting(ctx, rights[i])
		if cuts || also {
			some = true
			lefts[i], rights[i] = alike(ctx, left.Child, right.Child, i, l, r)
		}
	}
	if !some {
		return n, transform.SameTree, nil
	}
	whole, err := set.WithChildren(ctx, plan.NewProject(ctx, lefts, left.Child), plan.NewProject(ctx, rights,
		right.Child))
	return whole, transform.NewTree, err
}

func cloned(e []gms.Expression) []gms.Expression { return append([]gms.Expression(nil), e...) }

// side is a column of one side: its name, and what it is before it is converted.
type side struct {
	name  string
	value gms.Expression
}

// cutting tells whether a column is converted to a DECIMAL of which nobody has said how many digits it has.
func cutting(ctx *gms.Context, e gms.Expression) (side, bool) {
	s := side{value: e}
	if named, ok := e.(gms.Nameable); ok {
		s.name = named.Name()
	}
	if alias, ok := e.(*expression.Alias); ok {
		s.value = alias.Child
	}
	c, ok := s.value.(*expression.Convert)
	if !ok || !types.IsDecimal(c.Type(ctx)) || !strings.HasSuffix(c.String(), ", decimal)") {
		return s, false
	}
	s.value = c.Child
	return s, true
}

// alike are the columns of both sides, as numbers of one type.
func alike(ctx *gms.Context, left, right gms.Node, i int, l, r side) (gms.Expression, gms.Expression) {
	n, ok := exactColumn(ctx, left, i)
	other, also := exactColumn(ctx, right, i)
	switch {
	case ok && also:
		n = n.wider(other)
	case types.IsFloat(left.Schema(ctx)[i].Type), types.IsFloat(right.Schema(ctx)[i].Type):
		double := func(s side) gms.Expression {
			return expression.NewAlias(ctx, s.name, expression.NewConvert(s.value, expression.ConvertToDouble))
		}
		return double(l), double(r)
	default:
		n = digits10{types.DecimalTypeMaxPrecision, types.DecimalTypeMaxScale, false}
	}
	exact := func(s side) gms.Expression {
		return expression.NewAlias(ctx, s.name, expression.NewConvertWithLengthAndScale(s.value,
			expression.ConvertToDecimal, n.digits, n.scale))
	}
	return exact(l), exact(r)
}

// exactColumn are the digits of a node's column; false where nothing tells.
func exactColumn(ctx *gms.Context, n gms.Node, i int) (digits10, bool) {
	for {
		if set, is := n.(*plan.SetOp); is {
			left, ok := exactColumn(ctx, set.Left(), i)
			right, also := exactColumn(ctx, set.Right(), i)
			return left.wider(right), ok && also
		}
		expressions, below := made(n)
		if i < len(expressions) {
			return teller{ctx, nil, aggregates(ctx, n)}.exact(expressions[i])
		}
		if below == nil || len(below.Schema(ctx)) != len(n.Schema(ctx)) {
			digits, scale, ok := digitsOf(n.Schema(ctx)[i].Type)
			return digits10{digits, scale, false}, ok
		}
		n = below
	}
}
