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
		l, cuts := cutting(ctx, left, i)
		r, also := cutting(ctx, right, i)
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

// cutting tells whether go-mysql-server converts a column of what is below to a DECIMAL of which nobody has said how
// many digits it has. A CAST of the statement's own stays: it has none behind the point.
func cutting(ctx *gms.Context, n *plan.Project, i int) (side, bool) {
	e := n.Projections[i]
	s := side{value: e}
	if named, ok := e.(gms.Nameable); ok {
		s.name = named.Name()
	}
	alias, ok := e.(*expression.Alias)
	if !ok {
		return s, false
	}
	s.value = alias.Child
	c, ok := s.value.(*expression.Convert)
	if !ok || !types.IsDecimal(c.Type(ctx)) || !strings.HasSuffix(c.String(), ", decimal)") {
		return s, false
	}
	if own := alias.Id() != 0 || alias.Unreferencable(); own || !isColumn(ctx, c.Child, n.Child, i) {
		return s, false
	}
	s.value = c.Child
	return s, true
}

// isColumn tells whether an expression is just a column of a SELECT below.
func isColumn(ctx *gms.Context, e gms.Expression, below gms.Node, i int) bool {
	if _, table := below.(gms.TableNode); table {
		return false
	}
	schema := below.Schema(ctx)
	f, ok := e.(*expression.GetField)
	return ok && i < len(schema) && strings.EqualFold(f.Name(), schema[i].Name)
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
		schema := n.Schema(ctx)
		if i >= len(schema) {
			return digits10{}, false
		}
		if below == nil || len(below.Schema(ctx)) != len(schema) {
			digits, scale, ok := digitsOf(schema[i].Type)
			return digits10{digits, scale, false}, ok
		}
		n = below
	}
}
