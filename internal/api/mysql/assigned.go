package mysql

import (
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// assignedIn is a plan in which a variable that it assigns by := is read as what it may become: go-mysql-server takes
// the type that its value has when the statement is planned, and answers with no other.
func assignedIn(ctx *gms.Context, n gms.Node) (gms.Node, transform.TreeIdentity, error) {
	if s := sessionOf(ctx); s == nil || !s.assigns {
		return n, transform.SameTree, nil
	}
	switch n.(type) {
	case *plan.Set, *plan.Into: // what is set there has to stay a variable
		return n, transform.SameTree, nil
	}
	become := map[string]gms.Type{}
	note := func(name string, t gms.Type) {
		name = strings.ToLower(name)
		become[name] = wider(become[name], t)
	}
	_, _, err := eachExpression(ctx, n, func(_ gms.Node, e gms.Expression) gms.Expression {
		if a, ok := e.(*assigned); ok {
			note(a.name, a.Type(ctx))
		}
		return nil
	})
	if err != nil {
		return nil, transform.SameTree, err
	}
	for name := range become {
		t, value, err := ctx.GetUserVariable(ctx, name)
		if err != nil {
			return nil, transform.SameTree, err
		}
		if value != nil {
			note(name, t)
		}
	}
	return eachExpression(ctx, n, func(n gms.Node, e gms.Expression) gms.Expression {
		filters := false
		switch n.(type) {
		case *plan.Filter, *plan.JoinNode:
			filters = true
		}
		switch e := e.(type) {
		case *assigned:
			if filters {
				return &assigned{e.name, e.value, true}
			}
		case *expression.UserVar:
			t := become[strings.ToLower(e.Name)]
			if t == nil {
				return nil
			}
			v := expression.NewUserVarWithType(e.Name, t)
			if filters {
				return &readAgain{v}
			}
			return v
		}
		return nil
	})
}

// readAgain is a variable in a condition that is read for each row. What has no columns there is evaluated once, when
// the statement is planned, but for what has such a child.
type readAgain struct{ *expression.UserVar }

var ofRow = expression.NewProcedureParam("row", types.Int8)

// Children is what keeps the planner from evaluating it.
func (r *readAgain) Children() []gms.Expression { return []gms.Expression{ofRow} }

// WithChildren leaves it as it is.
func (r *readAgain) WithChildren(*gms.Context, ...gms.Expression) (gms.Expression, error) {
	return r, nil
}

// eachExpression replaces expressions of a plan and its subqueries by what with returns for them; nil: they stay.
func eachExpression(ctx *gms.Context, n gms.Node, with func(gms.Node, gms.Expression) gms.Expression) (gms.Node,
	transform.TreeIdentity, error) {
	return transform.NodeExprsWithNodeWithOpaque(ctx, n,
		func(ctx *gms.Context, n gms.Node, e gms.Expression) (gms.Expression, transform.TreeIdentity, error) {
			if sub, ok := e.(*plan.Subquery); ok {
				query, same, err := eachExpression(ctx, sub.Query, with)
				if err != nil || same == transform.SameTree {
					return e, transform.SameTree, err
				}
				return sub.WithQuery(query), transform.NewTree, nil
			}
			if replaced := with(n, e); replaced != nil {
				return replaced, transform.NewTree, nil
			}
			return e, transform.SameTree, nil
		})
}

// wider is a type that has the values of both, as variables keep them. nil: none.
func wider(a, b gms.Type) gms.Type {
	b = widest(b)
	switch {
	case a == nil || a == b:
		return b
	case b == nil:
		return a
	case types.IsNumber(a) && types.IsNumber(b):
		if types.IsFloat(a) || types.IsFloat(b) {
			return types.Float64
		}
		return types.InternalDecimalType
	}
	return types.LongText
}

// widest is the widest type of a kind; nil is that of NULL.
func widest(t gms.Type) gms.Type {
	switch {
	case t == nil, t == types.Null:
		return nil
	case types.IsUnsigned(t):
		return types.Uint64
	case types.IsInteger(t), t == types.Boolean:
		return types.Int64
	case types.IsDecimal(t):
		return types.InternalDecimalType
	case types.IsFloat(t):
		return types.Float64
	case types.IsTextOnly(t):
		return types.LongText
	case types.IsBinaryType(t):
		return types.LongBlob
	}
	return t
}
