package mysql

import (
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// unionsIn is a plan in which the numbers of both sides of a UNION and its like are of the type that MySQL gives them.
// go-mysql-server converts them to a DECIMAL without digits behind the point where one is a DECIMAL, to texts where one
// is a FLOAT, a YEAR or a sum, and to numbers with a sign where one has none.
func unionsIn(ctx *gms.Context, n gms.Node) (gms.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, unionIn)
}

func unionIn(ctx *gms.Context, n gms.Node) (gms.Node, transform.TreeIdentity, error) {
	if _, ok := n.(*plan.SetOp); !ok {
		return n, transform.SameTree, nil
	}
	n, same, err := exactIn(ctx, n) // a sum is a DOUBLE before
	if err != nil {
		return nil, same, err
	}
	set := n.(*plan.SetOp)
	left, ok := projected(ctx, set.Left())
	right, also := projected(ctx, set.Right())
	if !ok || !also || len(left.Projections) != len(right.Projections) {
		return n, same, nil
	}
	lefts, some := oneOrZeroOf(ctx, left.Projections)
	rights, too := oneOrZeroOf(ctx, right.Projections)
	some = some || too
	for i := range lefts {
		l, r := sideOf(ctx, left, i), sideOf(ctx, right, i)
		to := common(ctx, l, r)
		if to == nil || l.now.Equals(to) && r.now.Equals(to) && !l.plain && !r.plain {
			continue
		}
		some = true
		lefts[i], rights[i] = l.as(ctx, to), r.as(ctx, to)
	}
	if !some {
		return n, same, nil
	}
	whole, err := set.WithChildren(ctx, plan.NewProject(ctx, lefts, left.Child), plan.NewProject(ctx, rights,
		right.Child))
	return whole, transform.NewTree, err
}

// projected is a side of a UNION as a node that makes columns of expressions: another one is put above a DISTINCT, an
// ORDER BY or a LIMIT.
func projected(ctx *gms.Context, n gms.Node) (*plan.Project, bool) {
	if p, ok := n.(*plan.Project); ok {
		return p, true
	}
	for below := n; ; {
		switch below.(type) {
		case *plan.Distinct, *plan.Sort, *plan.Limit, *plan.Offset, *plan.Having:
		default:
			return nil, false
		}
		below = below.Children()[0]
		p, ok := below.(*plan.Project)
		if !ok {
			continue
		}
		columns := make([]gms.Expression, len(p.Projections))
		for i, c := range p.Schema(ctx) {
			id, ok := p.Projections[i].(gms.IdExpression)
			if !ok {
				return nil, false
			}
			columns[i] = expression.NewGetFieldWithTable(int(id.Id()), 0, c.Type, c.DatabaseSource, c.Source, c.Name,
				c.Nullable)
		}
		return plan.NewProject(ctx, columns, n), true
	}
}

// side is a column of one side.
type side struct {
	name   string
	id     gms.ColumnId
	value  gms.Expression // before go-mysql-server converted it
	now    gms.Type
	plain  bool     // it is a DECIMAL now of which nobody has said how many digits it has
	typ    gms.Type // of value
	digits digits10
	exact  bool // the digits are known
}

// sideOf is a column of a side. A CAST of the statement's own is part of its value.
func sideOf(ctx *gms.Context, n *plan.Project, i int) side {
	s := side{value: n.Projections[i], now: n.Projections[i].Type(ctx)}
	s.typ = s.now
	if named, ok := s.value.(gms.Nameable); ok {
		s.name = named.Name()
	}
	if known, ok := s.value.(gms.IdExpression); ok {
		s.id = known.Id()
	}
	from := gms.Node(n)
	if alias, ok := s.value.(*expression.Alias); ok && alias.Id() == 0 && !alias.Unreferencable() {
		value := alias.Child
		if c, ok := value.(*expression.Convert); ok {
			value = c.Child
			s.plain = strings.HasSuffix(c.String(), ", decimal)")
		}
		if isColumn(ctx, value, n.Child, i) {
			s.value, s.typ, from = value, n.Child.Schema(ctx)[i].Type, n.Child
		}
	}
	s.digits, s.exact = exactColumn(ctx, from, i)
	return s
}

// as is the column as a number of a type.
func (s side) as(ctx *gms.Context, to gms.Type) gms.Expression {
	value := s.value
	if alias, ok := value.(*expression.Alias); ok {
		value = alias.Child
	}
	var converted gms.Expression
	switch d, decimal := to.(gms.DecimalType); {
	case decimal:
		converted = expression.NewConvertWithLengthAndScale(value, expression.ConvertToDecimal, int(d.Precision()),
			int(d.Scale()))
	case to == types.Float64:
		converted = expression.NewConvert(value, expression.ConvertToDouble)
	case to == types.Uint64:
		converted = expression.NewConvert(value, expression.ConvertToUnsigned)
	default:
		converted = expression.NewConvert(value, expression.ConvertToSigned)
	}
	named := expression.NewAlias(ctx, s.name, converted)
	if s.id == 0 {
		return named
	}
	return named.WithId(s.id)
}

// common is the type that MySQL gives the numbers of both sides; nil: they are not both numbers, or have one already.
func common(ctx *gms.Context, l, r side) gms.Type {
	switch {
	case l.typ == types.Null && types.IsDecimal(r.typ):
		return decimalOf(r.digits, r.exact)
	case r.typ == types.Null && types.IsDecimal(l.typ):
		return decimalOf(l.digits, l.exact)
	case !isPlainNumber(l.typ) || !isPlainNumber(r.typ) || l.typ.Equals(r.typ) && !types.IsDecimal(l.typ):
		return nil
	case types.IsFloat(l.typ), types.IsFloat(r.typ):
		return types.Float64
	case types.IsDecimal(l.typ), types.IsDecimal(r.typ):
		if l.typ.Equals(r.typ) && l.now.Equals(r.now) {
			return nil
		}
		return decimalOf(l.digits.wider(r.digits), l.exact && r.exact)
	}
	unsigned, also := types.IsUnsigned(l.typ), types.IsUnsigned(r.typ)
	switch {
	case unsigned && also:
		return types.Uint64
	case unsigned && l.typ == types.Uint64, also && r.typ == types.Uint64:
		return types.MustCreateDecimalType(20, 0)
	}
	return types.Int64
}

// isPlainNumber tells whether a type is one of numbers, or of years.
func isPlainNumber(t gms.Type) bool {
	return (types.IsNumber(t) || types.IsYear(t)) && !types.IsBit(t) && !isChoice(t)
}

// decimalOf is a DECIMAL of so many digits, or of all that there may be.
func decimalOf(n digits10, known bool) gms.Type {
	if !known {
		n = digits10{digits: types.DecimalTypeMaxPrecision, scale: types.DecimalTypeMaxScale}
	}
	return types.MustCreateDecimalType(uint8(n.digits), uint8(n.scale))
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
