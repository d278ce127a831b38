package mysql

import (
	"slices"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// inRows is (a, b) IN (…), of a list or a subquery. It is unknown where no row is equal and one may be, because of a
// NULL in it or in (a, b). go-mysql-server says that it is not there, so that NOT IN would be true; and it cannot look
// for rows of a subquery that begin with a text.
type inRows struct {
	gms.Expression
	rows, nulls []any // of a subquery, as it answered last; those of them that have a NULL
}

// inRowsOf is such an expression in the place of go-mysql-server's, if it is one.
func inRowsOf(ctx *gms.Context, e gms.Expression) (gms.Expression, bool) {
	switch e.(type) {
	case *plan.InSubquery, *expression.InTuple, *expression.HashInTuple:
		left := e.Children()[0]
		return &inRows{Expression: e}, left != nil && left.Resolved() && types.NumColumns(left.Type(ctx)) > 1
	}
	return e, false
}

// notInRows is NOT (a, b) IN (SELECT …), kept from the planner, who would make a join of it: that looks for (a, b)
// among equal rows alone, and finds none that may be equal.
type notInRows struct{ gms.Expression }

// notInRowsOf is such an expression in the place of go-mysql-server's, if it is one.
func notInRowsOf(ctx *gms.Context, e gms.Expression) (gms.Expression, bool) {
	not, ok := e.(*expression.Not)
	if !ok {
		return e, false
	}
	in, ok := not.Child.(*plan.InSubquery)
	return &notInRows{e}, ok && in.Left().Resolved() && types.NumColumns(in.Left().Type(ctx)) > 1
}

// WithChildren negates another.
func (n *notInRows) WithChildren(ctx *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	e, err := n.Expression.WithChildren(ctx, children...)
	return &notInRows{e}, err
}

// CollationCoercibility is the inner expression's.
func (n *notInRows) CollationCoercibility(ctx *gms.Context) (gms.CollationID, byte) {
	return gms.GetCoercibility(ctx, n.Expression)
}

// WithChildren compares others.
func (r *inRows) WithChildren(ctx *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	e, err := r.Expression.WithChildren(ctx, children...)
	return &inRows{Expression: e}, err
}

// IsNullable is true: a value may be missing.
func (r *inRows) IsNullable(*gms.Context) bool { return true }

// CollationCoercibility is the inner expression's.
func (r *inRows) CollationCoercibility(ctx *gms.Context) (gms.CollationID, byte) {
	return gms.GetCoercibility(ctx, r.Expression)
}

// Eval is what go-mysql-server says, if that is true; else each row is compared that may be equal all the same.
func (r *inRows) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	left, right := r.Children()[0], r.Children()[1]
	c := rowComparison{of: left.Type(ctx), meter: meterOf(ctx), answer: false}
	if sub, ok := right.(*plan.Subquery); !ok || !beginsWithText(sub.Type(ctx)) {
		v, err := r.Expression.Eval(ctx, row)
		if there, ok := v.(bool); err != nil || !ok || there {
			return v, err
		}
		c.nulls = true
	}
	l, err := left.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	c.row, _ = l.([]any)
	switch right := right.(type) {
	case *plan.Subquery:
		rows, err := right.EvalMultiple(ctx, row)
		if err != nil {
			return nil, err
		}
		if c.nulls && !slices.Contains(c.row, nil) {
			rows = r.withNulls(rows)
		}
		for _, other := range rows {
			if found, err := c.with(ctx, right.Type(ctx), other); found || err != nil {
				return c.answer, err
			}
		}
	case expression.Tuple:
		for _, e := range right {
			other, err := e.Eval(ctx, row)
			if err != nil {
				return nil, err
			}
			if found, err := c.with(ctx, e.Type(ctx), other); found || err != nil {
				return c.answer, err
			}
		}
	}
	return c.answer, nil
}

// withNulls are those of a subquery's rows that have a NULL. A subquery that reads nothing of the query around it
// answers with the same rows each time, which are looked through once.
func (r *inRows) withNulls(rows []any) []any {
	if len(rows) == 0 || len(rows) == len(r.rows) && &rows[0] == &r.rows[0] {
		return r.nulls[:min(len(r.nulls), len(rows))]
	}
	r.rows, r.nulls = rows, nil
	for _, v := range rows {
		if row, ok := v.([]any); ok && slices.Contains(row, nil) {
			r.nulls = append(r.nulls, v)
		}
	}
	return r.nulls
}

func beginsWithText(t gms.Type) bool {
	row, ok := t.(types.TupleType)
	return ok && len(row) > 0 && types.IsText(row[0])
}

// rowComparison compares a row with others.
type rowComparison struct {
	of     gms.Type
	row    []any
	meter  *meter
	nulls  bool // none without a NULL is equal
	answer any  // true: one was equal; NULL: one may be
}

// with compares another row. found: it is equal.
func (c *rowComparison) with(ctx *gms.Context, of gms.Type, v any) (found bool, err error) {
	if c.meter != nil {
		if err := c.meter.alive(); err != nil {
			return false, err
		}
	}
	other, _ := v.([]any)
	left, ok := c.of.(types.TupleType)
	right, also := of.(types.TupleType)
	if !ok || !also || len(left) != len(c.row) || len(right) != len(other) || len(left) != len(right) {
		return false, sqlError(1241, "21000", "Operand should contain %d column(s)", types.NumColumns(c.of))
	}
	unknown := slices.Contains(c.row, nil) || slices.Contains(other, nil)
	if c.nulls && !unknown {
		return false, nil
	}
	for i, value := range c.row {
		if value == nil || other[i] == nil {
			continue
		}
		equal, err := expression.NewEquals(expression.NewLiteral(value, left[i]),
			expression.NewLiteral(other[i], right[i])).Eval(ctx, nil)
		if err != nil || equal != true {
			return false, err
		}
	}
	if c.answer = nil; !unknown {
		c.answer = true
	}
	return !unknown, nil
}
