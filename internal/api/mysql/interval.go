package mysql

import (
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// shiftedIn makes DATE_ADD or DATE_SUB of what adds or subtracts an interval. go-mysql-server's own way ends in a panic
// where the interval is NULL, takes minutes of a processor for a date that is a long text, and always makes a DATETIME
// without a fraction, whatever the date is. An interval in seconds that may have a fraction, which go-mysql-server
// rounds, becomes one in microseconds.
func shiftedIn(ctx *gms.Context, e gms.Expression) (shifted gms.Expression, changed bool, err error) {
	var date gms.Expression
	var by *expression.Interval
	back := false
	switch e := e.(type) {
	case *function.DateAdd:
		date, by = e.Date, e.Interval
	case *function.DateSub:
		date, by, back = e.Date, e.Interval, true
	case *expression.Arithmetic:
		left, first := e.LeftChild.(*expression.Interval)
		right, second := e.RightChild.(*expression.Interval)
		switch {
		case first == second || first && e.Op != "+" || e.Op != "+" && e.Op != "-":
			return e, false, nil
		case first:
			date, by = e.RightChild, left
		default:
			date, by, back = e.LeftChild, right, e.Op == "-"
		}
	default:
		return e, false, nil
	}
	_, sum := e.(*expression.Arithmetic)
	fraction := by.Unit == "SECOND" && !types.IsInteger(by.Child.Type(ctx))
	if !sum && !fraction {
		return e, false, nil
	}
	if fraction {
		by = expression.NewInterval(expression.NewArithmetic(by.Child, million, "*"), "MICROSECOND")
	}
	made := function.NewDateAdd
	if back {
		made = function.NewDateSub
	}
	shifted, err = made(ctx, date, by)
	return shifted, true, err
}

// million are the microseconds of a second.
var million = expression.NewLiteral(int64(1_000_000), types.Int64)

// named is an expression with the text of the one that it stands for, by which the planner finds an aggregate of it.
type named struct {
	gms.Expression
	text string
}

func (n *named) String() string             { return n.text }
func (n *named) inner() gms.Expression      { return n.Expression }
func (n *named) Children() []gms.Expression { return []gms.Expression{n.Expression} }

func (n *named) CollationCoercibility(ctx *gms.Context) (gms.CollationID, byte) {
	return gms.GetCoercibility(ctx, n.Expression)
}

func (n *named) WithChildren(_ *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	if len(children) != 1 {
		return nil, gms.ErrInvalidChildrenNumber.New(n, len(children), 1)
	}
	return &named{children[0], n.text}, nil
}

// lonelyInterval refuses an INTERVAL that is added to nothing, in a plan that the analyzer has passed by: it would be
// evaluated, and end in a panic.
func lonelyInterval(ctx *gms.Context, n gms.Node) (err error) {
	if !containsFold(ctx.Query(), "interval") {
		return nil
	}
	transform.InspectExpressions(ctx, n, func(_ *gms.Context, e gms.Expression) bool {
		switch e := e.(type) {
		case *function.DateAdd, *function.DateSub:
			return false
		case *expression.Interval:
			err = sqlError(erSyntax, "42000", "You have an error in your SQL syntax: an INTERVAL in %s stands alone",
				e.Unit)
		}
		return err == nil
	})
	return err
}
