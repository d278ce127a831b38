package mysql

import (
	"regexp"
	"slices"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// onceEach is what GROUP_CONCAT or a window sorts its rows by. go-mysql-server evaluates that at each comparison of two
// rows; here it is evaluated once for each row. It is known by the place that a row has in memory, which stays with it:
// whoever sorts keeps the rows, and so does the map.
type onceEach struct {
	gms.Expression
	values map[*any]any
}

// onceEachOf is an expression that is evaluated once for each row. A column needs no evaluation.
func onceEachOf(e gms.Expression) gms.Expression {
	switch e.(type) {
	case *expression.GetField, *expression.Literal, *onceEach:
		return e
	}
	return &onceEach{e, map[*any]any{}}
}

// Children is the inner expression alone.
func (o *onceEach) Children() []gms.Expression { return []gms.Expression{o.Expression} }

// WithChildren evaluates another expression once for each row.
func (o *onceEach) WithChildren(_ *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	if len(children) != 1 {
		return nil, gms.ErrInvalidChildrenNumber.New(o, len(children), 1)
	}
	return onceEachOf(children[0]), nil
}

// CollationCoercibility is the inner expression's.
func (o *onceEach) CollationCoercibility(ctx *gms.Context) (gms.CollationID, byte) {
	return gms.GetCoercibility(ctx, o.Expression)
}

// Eval is the row's value. What is kept of it is counted. An error ends the statement: windows pass over it.
func (o *onceEach) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	s := sessionOf(ctx)
	if len(row) == 0 || s == nil || s.meter == nil {
		return o.Expression.Eval(ctx, row)
	}
	place := &row[0]
	if v, known := o.values[place]; known {
		return v, nil
	}
	if err := s.meter.alive(); err != nil { // who sorts goes through all rows before it returns one
		return nil, err
	}
	v, err := o.Expression.Eval(ctx, withoutNumber(row))
	if err != nil {
		return nil, s.meter.fail(err)
	}
	o.values[place] = v
	return v, keptWeight(s.meter, v)
}

// withoutNumber is a row without the number that go-mysql-server puts behind it while it sorts the rows of a window: an
// int, which no value is. Subqueries expect their own columns there.
func withoutNumber(row gms.Row) gms.Row {
	last := len(row) - 1
	if _, number := row[last].(int); number {
		return row[:last]
	}
	return row
}

// onceEachIn is a window function that evaluates what its window is made by once for each row.
func onceEachIn(ctx *gms.Context, w gms.WindowAdaptableExpression) gms.WindowAdaptableExpression {
	window := w.Window()
	if window == nil {
		return w
	}
	once := *window
	once.Frame = frameOf(ctx, window)
	once.PartitionBy, once.OrderBy = slices.Clone(window.PartitionBy), slices.Clone(window.OrderBy)
	for i, e := range once.PartitionBy {
		once.PartitionBy[i] = onceEachOf(e)
	}
	for i := range once.OrderBy {
		by := &once.OrderBy[i]
		if e := onceEachOf(by.Column); e != by.Column {
			by.Column, by.ValueExprColumn = e, nil
		}
	}
	return w.WithWindow(ctx, &once)
}

// wholeFrame is what a statement says of a frame that has all rows of a partition.
var wholeFrame = regexp.MustCompile(`(?i)\bunbounded\s+following\b`)

// frameOf is the frame of a window. Where one is named (OVER w), go-mysql-server takes all rows of a partition, and
// forgets that the named one, which has an order, ends at each row.
func frameOf(ctx *gms.Context, window *gms.WindowDefinition) gms.WindowFrame {
	if _, whole := window.Frame.(*plan.RowsUnboundedPrecedingToUnboundedFollowingFrame); whole &&
		len(window.OrderBy) > 0 && !wholeFrame.MatchString(ctx.Query()) {
		return nil
	}
	return window.Frame
}
