package mysql

import (
	"errors"
	"math"
	"strings"

	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/hikyaku/hikyaku/internal/api/mysql/spelling"
)

// markedFunctions are what stands in a statement for what the parser does not know: see spelling.
func markedFunctions() []gms.Function {
	made := map[string]func(ctx *gms.Context, args []gms.Expression) (gms.Expression, error){
		spelling.Assign: newAssigned,
		spelling.Interval: func(_ *gms.Context, args []gms.Expression) (gms.Expression, error) {
			return &placed{args}, nil
		},
		spelling.All: func(_ *gms.Context, args []gms.Expression) (gms.Expression, error) {
			return newOfRows(args, true)
		},
		spelling.Any:      ofAnyRows,
		spelling.Some:     ofAnyRows,
		spelling.NthValue: newNthValue,
		spelling.Rollup:   func(*gms.Context, []gms.Expression) (gms.Expression, error) { return rolledUp{}, nil },
		spelling.Grouping: func(_ *gms.Context, args []gms.Expression) (gms.Expression, error) {
			return &groupingOf{args: args}, nil
		},
		spelling.Inverted: func(*gms.Context, []gms.Expression) (gms.Expression, error) {
			return expression.NewLiteral(uint64(math.MaxUint64), types.Uint64), nil
		},
		spelling.CumeDist: func(_ *gms.Context, args []gms.Expression) (gms.Expression, error) {
			if len(args) != 0 {
				return nil, sqlError(erSyntax, "42000", "CUME_DIST() takes no arguments")
			}
			return &ofFrame{name: "cume_dist"}, nil
		},
	}
	var fs []gms.Function
	for name, make := range made {
		fs = append(fs, gms.FunctionN{Name: name,
			Fn: func(ctx *gms.Context, args ...gms.Expression) (gms.Expression, error) { return make(ctx, args) }})
	}
	return fs
}

// assigned is @a := 1: a value that is kept in a variable when it is made.
type assigned struct {
	name  string
	value gms.Expression
	again bool // it stands in a condition: see readAgain
}

var _ gms.NonDeterministicExpression = (*assigned)(nil)

func newAssigned(ctx *gms.Context, args []gms.Expression) (gms.Expression, error) {
	if len(args) != 2 {
		return nil, errAssigned()
	}
	v, ok := args[0].(*expression.UserVar)
	if !ok {
		return nil, errAssigned()
	}
	if s := sessionOf(ctx); s != nil {
		s.assigns = true
	}
	return &assigned{name: v.Name, value: args[1]}, nil
}

func errAssigned() error {
	return sqlError(erSyntax, "42000", "A value is assigned to a variable by @name := value")
}

func (a *assigned) Resolved() bool                 { return a.value.Resolved() }
func (a *assigned) String() string                 { return "@" + a.name + " := " + a.value.String() }
func (a *assigned) Type(ctx *gms.Context) gms.Type { return a.value.Type(ctx) }
func (a *assigned) IsNullable(ctx *gms.Context) bool {
	return a.value.IsNullable(ctx)
}
func (a *assigned) IsNonDeterministic() bool { return true }

// Children is the value, and what keeps the planner from evaluating it once for all rows.
func (a *assigned) Children() []gms.Expression {
	if a.again {
		return []gms.Expression{a.value, ofRow}
	}
	return []gms.Expression{a.value}
}

func (a *assigned) WithChildren(_ *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	if len(children) != len(a.Children()) {
		return nil, gms.ErrInvalidChildrenNumber.New(a, len(children), 1)
	}
	return &assigned{a.name, children[0], a.again}, nil
}

// CollationCoercibility is the value's.
func (a *assigned) CollationCoercibility(ctx *gms.Context) (gms.CollationID, byte) {
	return gms.GetCoercibility(ctx, a.value)
}

func (a *assigned) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	if ctx == nil { // the planner of UNIX_TIMESTAMP() looks whether its argument is a constant
		return nil, errNoConstant
	}
	v, err := a.value.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	if v, err = gms.UnwrapAny(ctx, v); err != nil {
		return nil, err
	}
	return v, ctx.SetUserVariable(ctx, a.name, v, types.ApproximateTypeFromValue(v))
}

var errNoConstant = errors.New("an assignment is no constant")

// placed is INTERVAL(n, a, b, …): how many of the numbers behind the first one are not greater than it, up to the first
// that is.
type placed struct{ args []gms.Expression }

func (p *placed) Resolved() bool               { return expression.ExpressionsResolved(p.args...) }
func (p *placed) Type(*gms.Context) gms.Type   { return types.Int64 }
func (p *placed) IsNullable(*gms.Context) bool { return false }
func (p *placed) Children() []gms.Expression   { return p.args }

func (p *placed) String() string {
	texts := make([]string, len(p.args))
	for i, a := range p.args {
		texts[i] = a.String()
	}
	return "interval(" + strings.Join(texts, ", ") + ")"
}

func (p *placed) WithChildren(_ *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	return &placed{children}, nil
}

func (p *placed) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	n, ok, err := numberIn(ctx, p.args[0], row)
	if err != nil || !ok {
		return int64(-1), err
	}
	for i, a := range p.args[1:] {
		next, ok, err := numberIn(ctx, a, row)
		if err != nil {
			return nil, err
		}
		if ok && next.Cmp(n) > 0 { // NULL is passed over
			return int64(i), nil
		}
	}
	return int64(len(p.args) - 1), nil
}

// numberIn is an expression's value as a number; ok is false for NULL.
func numberIn(ctx *gms.Context, e gms.Expression, row gms.Row) (n *apd.Decimal, ok bool, err error) {
	v, err := e.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, false, err
	}
	if v, err = gms.UnwrapAny(ctx, v); err != nil {
		return nil, false, err
	}
	n, err = numberOf(ctx, v)
	return n, err == nil, err
}

// ofFrame is NTH_VALUE or CUME_DIST.
type ofFrame struct {
	name   string
	args   []gms.Expression // of NTH_VALUE, the value and which
	window *gms.WindowDefinition
	id     gms.ColumnId
}

var _ gms.WindowAggregation = (*ofFrame)(nil)

func newNthValue(_ *gms.Context, args []gms.Expression) (gms.Expression, error) {
	if len(args) != 2 {
		return nil, sqlError(erSyntax, "42000", "NTH_VALUE() takes a value and a number")
	}
	return &ofFrame{name: "nth_value", args: args}, nil
}

//lint:ignore ST1003 go-mysql-server calls it so
func (f *ofFrame) Id() gms.ColumnId { return f.id }

//lint:ignore ST1003 go-mysql-server calls it so
func (f *ofFrame) WithId(id gms.ColumnId) gms.IdExpression {
	with := *f
	with.id = id
	return &with
}

func (f *ofFrame) Window() *gms.WindowDefinition { return f.window }

// WithWindow gives the function its window, of one partition at least: see framed.
func (f *ofFrame) WithWindow(_ *gms.Context, window *gms.WindowDefinition) gms.WindowAdaptableExpression {
	if window != nil && len(window.OrderBy)+len(window.PartitionBy) == 0 {
		whole := *window
		whole.PartitionBy = []gms.Expression{oneLiteral}
		window = &whole
	}
	with := *f
	with.window = window
	return &with
}

func (f *ofFrame) Resolved() bool { return expression.ExpressionsResolved(f.Children()...) }

func (f *ofFrame) String() string {
	texts := make([]string, len(f.args))
	for i, a := range f.args {
		texts[i] = a.String()
	}
	text := f.name + "(" + strings.Join(texts, ", ") + ")"
	if f.window != nil {
		text += " " + f.window.String()
	}
	return text
}

func (f *ofFrame) Type(ctx *gms.Context) gms.Type {
	if len(f.args) == 0 {
		return types.Float64
	}
	return f.args[0].Type(ctx)
}

func (f *ofFrame) IsNullable(*gms.Context) bool { return len(f.args) > 0 }

// CollationCoercibility is the value's.
func (f *ofFrame) CollationCoercibility(ctx *gms.Context) (gms.CollationID, byte) {
	if len(f.args) == 0 {
		return gms.Collation_binary, 5
	}
	return gms.GetCoercibility(ctx, f.args[0])
}

// Children are the arguments, and what the window is made of.
func (f *ofFrame) Children() []gms.Expression {
	children := append([]gms.Expression(nil), f.args...)
	if f.window != nil {
		children = append(children, f.window.ToExpressions()...)
	}
	return children
}

func (f *ofFrame) WithChildren(ctx *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	with, n := *f, len(f.args)
	if len(children) < n {
		return nil, gms.ErrInvalidChildrenNumber.New(f, len(children), n)
	}
	with.args = children[:n:n]
	if f.window != nil {
		var err error
		if with.window, err = f.window.FromExpressions(ctx, children[n:]); err != nil {
			return nil, err
		}
	}
	return &with, nil
}

func (f *ofFrame) Eval(*gms.Context, gms.Row) (any, error) {
	return nil, gms.ErrWindowUnsupported.New(f.name)
}

// NewWindowFunction makes what computes the values.
func (f *ofFrame) NewWindowFunction(ctx *gms.Context) (gms.WindowFunction, error) {
	if len(f.args) == 0 {
		return &cumeDist{order: f.window.OrderBy.ToExpressions()}, nil
	}
	n, err := f.args[1].Eval(ctx, nil)
	if err != nil {
		return nil, err
	}
	which, ok := n.(int64)
	if !ok {
		if converted, _, err := types.Int64.Convert(ctx, n); err == nil && types.IsInteger(f.args[1].Type(ctx)) {
			which, _ = converted.(int64)
		}
	}
	if which < 1 {
		return nil, sqlError(erWrongArguments, "HY000", "Incorrect arguments to nth_value")
	}
	first, err := aggregation.NewFirstAgg(f.args[0]).WithWindow(ctx, f.window) // for its frames
	return &nthValue{first, f.args[0], which}, err
}

// nthValue is the value of the n-th row of a frame.
type nthValue struct {
	gms.WindowFunction
	of gms.Expression
	n  int64
}

func (f *nthValue) Compute(ctx *gms.Context, frame gms.WindowInterval, rows gms.WindowBuffer) (any, error) {
	if f.n > int64(frame.End-frame.Start) {
		return nil, nil
	}
	return f.of.Eval(ctx, rows[frame.Start+int(f.n)-1])
}

// cumeDist is what part of a partition's rows is not behind one.
type cumeDist struct {
	order []gms.Expression
	rows  gms.WindowInterval // of the partition
}

func (*cumeDist) Dispose(*gms.Context) {}

func (f *cumeDist) StartPartition(_ *gms.Context, rows gms.WindowInterval, _ gms.WindowBuffer) error {
	f.rows = rows
	return nil
}

// DefaultFramer makes frames up to the last row that is equal to each one.
func (f *cumeDist) DefaultFramer() gms.WindowFramer {
	return toPeers{PeerGroupFramer: aggregation.NewPeerGroupFramer(f.order)}
}

func (f *cumeDist) Compute(_ *gms.Context, frame gms.WindowInterval, _ gms.WindowBuffer) (any, error) {
	return float64(frame.End-f.rows.Start) / float64(f.rows.End-f.rows.Start), nil
}
