package mysql

import (
	"slices"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// shifted is a date plus or minus an INTERVAL. go-mysql-server ends in a panic where the interval is NULL, and takes
// minutes of a processor for a date that is a long text. Its children are the date and the number of the interval.
type shifted struct{ *expression.Arithmetic }

// shiftedIn wraps what adds or subtracts an interval.
func shiftedIn(e *expression.Arithmetic) (gms.Expression, transform.TreeIdentity, error) {
	_, left := e.LeftChild.(*expression.Interval)
	_, right := e.RightChild.(*expression.Interval)
	if left == right || e.Op != "+" && e.Op != "-" {
		return e, transform.SameTree, nil
	}
	return &shifted{e}, transform.NewTree, nil
}

// Children are the date and the number, in their order.
func (s *shifted) Children() []gms.Expression {
	children := s.Arithmetic.Children()
	for i, c := range children {
		if interval, ok := c.(*expression.Interval); ok {
			children[i] = interval.Child
		}
	}
	return children
}

// with is the same of another date and number.
func (s *shifted) with(children []gms.Expression) (*expression.Arithmetic, error) {
	if len(children) != 2 {
		return nil, gms.ErrInvalidChildrenNumber.New(s, len(children), 2)
	}
	both := slices.Clone(children)
	for i, c := range s.Arithmetic.Children() {
		if interval, ok := c.(*expression.Interval); ok {
			both[i] = expression.NewInterval(both[i], interval.Unit)
		}
	}
	return expression.NewArithmetic(both[0], both[1], s.Op), nil
}

func (s *shifted) WithChildren(_ *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	e, err := s.with(children)
	return &shifted{e}, err
}

// Eval evaluates the date and the interval once.
func (s *shifted) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	values := s.Children()
	for i, c := range values {
		v, err := c.Eval(ctx, row)
		if err != nil || v == nil {
			return nil, err
		}
		if v, err = gms.UnwrapAny(ctx, v); err != nil {
			return nil, err
		}
		if v, err = (cutter{}).look(ctx, v); err != nil {
			return nil, err
		}
		values[i] = expression.NewLiteral(v, c.Type(ctx))
	}
	e, err := s.with(values)
	if err != nil {
		return nil, err
	}
	return e.Eval(ctx, row)
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
			err = sqlError(erSyntax, "42000", "You have an error in your SQL syntax: an INTERVAL in %s stands alone", e.Unit)
		}
		return err == nil
	})
	return err
}
