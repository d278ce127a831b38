package mysql

import (
	"slices"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// interruptible is an argument of a window function. go-mysql-server evaluates it for all rows of a partition, and for
// some functions for all rows of each frame, before it returns, and passes over errors. Here it ends with the
// statement, and its own error ends the statement.
type interruptible struct{ gms.Expression }

// interruptibleIn is a window function whose arguments are interruptible. Columns cost nothing, and exactWindow asks by
// itself.
func interruptibleIn(ctx *gms.Context, w gms.WindowAdaptableExpression) (gms.WindowAdaptableExpression, error) {
	children := slices.Clone(w.Children())
	for i, c := range children {
		switch c.(type) {
		case *onceEach, *seen[adder], *expression.GetField, *expression.Literal, *expression.Star:
		default:
			children[i] = &interruptible{c}
		}
	}
	e, err := w.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return e.(gms.WindowAdaptableExpression), nil
}

// Children is the inner expression alone.
func (e *interruptible) Children() []gms.Expression { return []gms.Expression{e.Expression} }

// WithChildren makes another expression interruptible.
func (e *interruptible) WithChildren(_ *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	if len(children) != 1 {
		return nil, gms.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	return &interruptible{children[0]}, nil
}

// CollationCoercibility is the inner expression's.
func (e *interruptible) CollationCoercibility(ctx *gms.Context) (gms.CollationID, byte) {
	return gms.GetCoercibility(ctx, e.Expression)
}

// Eval is the inner expression's value.
func (e *interruptible) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	m := meterOf(ctx)
	if m == nil {
		return e.Expression.Eval(ctx, row)
	}
	if err := m.alive(); err != nil {
		return nil, err
	}
	v, err := e.Expression.Eval(ctx, row)
	if err != nil {
		err = m.fail(err)
	}
	return v, err
}
