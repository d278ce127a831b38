package mysql

import (
	"slices"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// ofRows is what stands behind the sign of a > ALL (SELECT …).
type ofRows struct {
	rows gms.Expression // a subquery
	all  bool
	held bool // the comparison is a quantified's
}

func ofAnyRows(_ *gms.Context, args []gms.Expression) (gms.Expression, error) {
	return newOfRows(args, false)
}

func newOfRows(args []gms.Expression, all bool) (gms.Expression, error) {
	if len(args) != 1 {
		return nil, sqlError(erSyntax, "42000", "ALL, ANY and SOME stand before a subquery")
	}
	return &ofRows{rows: args[0], all: all}, nil
}

func (o *ofRows) Resolved() bool                 { return o.rows.Resolved() }
func (o *ofRows) Type(ctx *gms.Context) gms.Type { return o.rows.Type(ctx) }
func (o *ofRows) IsNullable(*gms.Context) bool   { return true }
func (o *ofRows) Children() []gms.Expression     { return []gms.Expression{o.rows} }

func (o *ofRows) String() string {
	if o.all {
		return "ALL " + o.rows.String()
	}
	return "ANY " + o.rows.String()
}

func (o *ofRows) WithChildren(_ *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	if len(children) != 1 {
		return nil, gms.ErrInvalidChildrenNumber.New(o, len(children), 1)
	}
	return &ofRows{children[0], o.all, o.held}, nil
}

// CollationCoercibility is the subquery's.
func (o *ofRows) CollationCoercibility(ctx *gms.Context) (gms.CollationID, byte) {
	return gms.GetCoercibility(ctx, o.rows)
}

func (o *ofRows) Eval(*gms.Context, gms.Row) (any, error) {
	return nil, sqlError(erSyntax, "42000", "ALL, ANY and SOME stand behind a comparison")
}

// quantified is a > ALL (SELECT …) or a > ANY (SELECT …): a comparison that is made with one row after another.
type quantified struct {
	compare gms.Expression // with an ofRows on its right
	all     bool
}

// quantifiedIn is a comparison with all or any rows of a subquery.
func quantifiedIn(ctx *gms.Context, e gms.Expression) (q *quantified, is bool, err error) {
	c, ok := e.(expression.Comparer)
	if !ok {
		return nil, false, nil
	}
	o, ok := c.Right().(*ofRows)
	if !ok || o.held {
		return nil, false, nil
	}
	rows, ok := o.rows.(*plan.Subquery)
	if !ok || types.NumColumns(rows.Type(ctx)) != 1 || types.NumColumns(c.Left().Type(ctx)) != 1 {
		return nil, false, sqlError(1241, "21000", "Operand should contain 1 column(s)")
	}
	all := o.all
	if _, ok := c.(*expression.Equals); ok { // = ANY and <> ALL are IN and NOT IN: it is = ALL, or what <> ANY negates
		all = true
	}
	compare, err := c.WithChildren(ctx, c.Left(), &ofRows{rows, o.all, true})
	return &quantified{compare, all}, true, err
}

func (q *quantified) Resolved() bool               { return q.compare.Resolved() }
func (q *quantified) Type(*gms.Context) gms.Type   { return types.Boolean }
func (q *quantified) IsNullable(*gms.Context) bool { return true }
func (q *quantified) String() string               { return q.compare.String() }
func (q *quantified) Children() []gms.Expression   { return []gms.Expression{q.compare} }

func (q *quantified) WithChildren(_ *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	if len(children) != 1 {
		return nil, gms.ErrInvalidChildrenNumber.New(q, len(children), 1)
	}
	return &quantified{children[0], q.all}, nil
}

// CollationCoercibility implements gms.CollationCoercible.
func (q *quantified) CollationCoercibility(*gms.Context) (gms.CollationID, byte) {
	return gms.Collation_binary, 5
}

// Eval compares until one row decides. NULL is what is not known: it is the value where no row decides.
func (q *quantified) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	one := &inTurn{}
	compare, _, err := one.in(ctx, q.compare)
	if err != nil {
		return nil, err
	}
	rows, err := one.Expression.(*ofRows).rows.(*plan.Subquery).EvalMultiple(ctx, row)
	if err != nil {
		return nil, err
	}
	m := meterOf(ctx)
	var value any = q.all
	for _, one.value = range rows {
		if m != nil && m.alive() != nil {
			return nil, m.err
		}
		is, err := compare.Eval(ctx, row)
		switch {
		case err != nil:
			return nil, err
		case is == nil:
			value = nil
		case is != any(q.all):
			return is, nil
		}
	}
	return value, nil
}

// inTurn is the row that is compared.
type inTurn struct {
	gms.Expression // all of them, for the type
	value          any
}

// in is a comparison with o in the place of its rows. Those of another one within it are not its own.
func (o *inTurn) in(ctx *gms.Context, e gms.Expression) (gms.Expression, transform.TreeIdentity, error) {
	switch e := e.(type) {
	case *ofRows:
		o.Expression = e
		return o, transform.NewTree, nil
	case *quantified:
		return e, transform.SameTree, nil
	}
	children, same := slices.Clone(e.Children()), transform.SameTree
	for i, c := range children {
		if c == nil {
			continue
		}
		made, is, err := o.in(ctx, c)
		if err != nil {
			return nil, is, err
		}
		children[i], same = made, same && is
	}
	if same {
		return e, same, nil
	}
	made, err := e.WithChildren(ctx, children...)
	return made, transform.NewTree, err
}

func (o *inTurn) Eval(*gms.Context, gms.Row) (any, error) { return o.value, nil }

// CollationCoercibility is that of all.
func (o *inTurn) CollationCoercibility(ctx *gms.Context) (gms.CollationID, byte) {
	return gms.GetCoercibility(ctx, o.Expression)
}
