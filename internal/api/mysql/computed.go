package mysql

import (
	"slices"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation/window"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// computed is what a statement's plan tells of a column of its answer, and the schema does not.
type computed struct {
	chars    int      // that a text has at most; -1: nothing tells
	digits   int      // of a second that a TIME has
	decimals int      // of a DOUBLE: notFixed of most
	nullable bool     // it may be NULL, whatever the schema says
	unsigned bool     // a whole number that is computed has no sign
	exact    digits10 // of a DECIMAL
	whole    int      // how long a whole number is that is no column: a BIGINT, as MySQL computes; 0: it is a column
}

// untold is where nothing tells.
var untold = computed{chars: -1, digits: 6, decimals: notFixed}

// teller tells it of a plan's expressions.
type teller struct {
	*gms.Context
	clock *clockDigits
	below map[string]gms.Expression // what columns are that aggregates and windows below make, by name
}

// computedIn looks at a plan's columns; nil: they are not made of expressions.
func computedIn(ctx *gms.Context, d *Server, n gms.Node) ([]computed, error) {
	for {
		if set, ok := n.(*plan.SetOp); ok {
			left, err := computedIn(ctx, d, set.Left())
			if err != nil {
				return nil, err
			}
			right, err := computedIn(ctx, d, set.Right())
			return either(left, right), err
		}
		expressions, below := made(n)
		if expressions == nil {
			if below == nil || len(below.Schema(ctx)) != len(n.Schema(ctx)) {
				return nil, nil
			}
			n = below
			continue
		}
		t := teller{ctx, &clockDigits{door: d}, aggregates(ctx, n)}
		columns := make([]computed, len(expressions))
		for i, e := range expressions {
			columns[i] = computed{chars: t.chars(e), digits: t.digitsOfTime(e), decimals: t.decimals(e),
				nullable: t.mayBeEmpty(e), unsigned: t.unsigned(e), whole: t.whole(e)}
			if n, ok := t.exact(e); ok {
				columns[i].exact = n
			}
		}
		return columns, t.clock.err
	}
}

// either are the columns of a UNION and its like.
func either(left, right []computed) []computed {
	if len(left) != len(right) {
		return nil
	}
	all := slices.Clone(left)
	for i, r := range right {
		l := &all[i]
		if l.chars < 0 || r.chars < 0 {
			l.chars = -1
		} else {
			l.chars = max(l.chars, r.chars)
		}
		l.digits, l.decimals = max(l.digits, r.digits), max(l.decimals, r.decimals)
		l.nullable, l.whole = l.nullable || r.nullable, max(l.whole, r.whole)
		l.unsigned = l.unsigned && r.unsigned
		if l.exact.digits == 0 || r.exact.digits == 0 {
			l.exact = digits10{}
		} else {
			l.exact = l.exact.wider(r.exact)
		}
	}
	return all
}

// made are the expressions that a node's columns are made of, and the only node below it.
func made(n gms.Node) (expressions []gms.Expression, below gms.Node) {
	if c := n.Children(); len(c) == 1 {
		below = c[0]
	}
	switch n := n.(type) {
	case *plan.Project:
		return n.Projections, below
	case *plan.GroupBy:
		return n.SelectDeps, below
	case *plan.Window:
		return n.SelectExprs, below
	}
	return nil, below
}

// aggregates are what a GROUP BY or the windows below a node compute.
func aggregates(ctx *gms.Context, n gms.Node) map[string]gms.Expression {
	found := map[string]gms.Expression{}
	for n != nil {
		expressions, below := made(n)
		switch n.(type) {
		case *plan.GroupBy, *plan.Window:
			schema := n.Schema(ctx)
			for i, e := range expressions {
				if _, column := innermost(e).(*expression.GetField); !column && i < len(schema) {
					found[strings.ToLower(schema[i].Name)] = e
				}
			}
			return found
		}
		n = below
	}
	return found
}

// innermost is what an expression is without its name and what looks at it.
func innermost(e gms.Expression) gms.Expression {
	for {
		switch inner := e.(type) {
		case *expression.Alias:
			e = inner.Child
		case interface{ inner() gms.Expression }:
			e = inner.inner()
		default:
			return e
		}
	}
}

// origin is the expression that makes a value, perhaps in a node below, and who tells of what it is made of.
func (t teller) origin(e gms.Expression) (gms.Expression, teller) {
	e = innermost(e)
	if f, ok := e.(*expression.GetField); ok && f.Table() == "" {
		if below := t.below[strings.ToLower(f.Name())]; below != nil {
			return innermost(below), teller{t.Context, t.clock, nil}
		}
	}
	return e, t
}

// mayBeEmpty tells whether an expression is NULL where an aggregate in it is, as all but COUNT are without rows.
func (t teller) mayBeEmpty(e gms.Expression) (empty bool) {
	whole := true
	transform.InspectExpr(t.Context, e, func(_ *gms.Context, e gms.Expression) bool {
		switch e := e.(type) {
		case *expression.GetField:
			if below := t.below[strings.ToLower(e.Name())]; below != nil {
				empty = empty || isEmptyAggregate(below)
			}
		case *function.Coalesce, *function.IfNull, *expression.IsNull, *expression.NullSafeEquals:
			whole = false
		default:
			empty = empty || isEmptyAggregate(e)
		}
		return false
	})
	return empty && whole
}

func isEmptyAggregate(e gms.Expression) bool {
	switch innermost(e).(type) {
	case *aggregation.Sum, *aggregation.Max, *aggregation.Min, *aggregation.Avg, *aggregation.GroupConcat, joining:
		return true
	}
	return false
}

// ofOne are what has the value of one of its arguments; nil: it has not.
func ofOne(e gms.Expression) []gms.Expression {
	switch e := e.(type) {
	case *aggregation.Max, *aggregation.Min, *aggregation.AnyValue, *aggregation.First, *aggregation.Last,
		*window.FirstValue, *window.LastValue:
		return e.Children()[:1]
	case *window.Lag:
		return e.Children()[:1]
	case *window.Lead:
		return e.Children()[:1]
	case framed:
		return ofOne(e.WindowAdaptableExpression)
	case *ofFrame:
		return e.args[:min(1, len(e.args))]
	case *assigned:
		return e.Children()[:1]
	case *function.IfNull, *function.Coalesce:
		return e.Children()
	case *function.NullIf:
		return e.Children()[:1]
	case *function.If:
		return e.Children()[1:]
	case *expression.Case:
		var values []gms.Expression
		for _, b := range e.Branches {
			values = append(values, b.Value)
		}
		if e.Else != nil {
			values = append(values, e.Else)
		}
		return values
	case *plan.Subquery:
		for n := e.Query; n != nil; {
			expressions, below := made(n)
			if len(expressions) == 1 {
				return expressions
			}
			n = below
		}
	}
	return nil
}

// whole is how long a whole number is that is computed; 0 of a column, which has a type of its own.
func (t teller) whole(e gms.Expression) (length int) {
	e, t = t.origin(e)
	if e == nil {
		return 0
	}
	if values := ofOne(e); values != nil {
		columns := false
		for _, v := range values {
			n := t.whole(v)
			columns = columns || n == 0
			length = max(length, n)
		}
		if columns && length > 0 {
			return longestWhole
		}
		return length
	}
	switch f := e.(type) {
	case *expression.GetField, *expression.UserVar:
		return 0
	case *expression.Literal:
		switch v := f.Value().(type) {
		case nil:
			return 0
		case bool:
			return 1
		default:
			return len(strings.TrimPrefix(text64(v), "-")) + 1
		}
	}
	if e.Type(t.Context) == types.Boolean {
		return 1
	}
	return longestWhole
}

// unsigned tells whether a whole number has no sign.
func (t teller) unsigned(e gms.Expression) bool {
	if _, literal := innermost(e).(*expression.Literal); !literal && e != nil && ofOne(innermost(e)) == nil &&
		types.IsUnsigned(e.Type(t.Context)) {
		return true
	}
	e, t = t.origin(e)
	if e == nil {
		return false
	}
	if values := ofOne(e); values != nil {
		for _, v := range values {
			if t.unsigned(v) {
				return true
			}
		}
		return false
	}
	if _, literal := e.(*expression.Literal); literal {
		return isUnsigned(t.Context, e)
	}
	return types.IsUnsigned(e.Type(t.Context))
}

// longestWhole is how long a BIGINT is that is computed.
const longestWhole = 21

// decimals is how many digits a DOUBLE has behind its point: those of PI() are told.
func (t teller) decimals(e gms.Expression) int {
	e, t = t.origin(e)
	switch e := e.(type) {
	case *function.Pi:
		return 6
	case *realRounded:
		return e.decimals()
	case *expression.Arithmetic, *expression.UnaryMinus:
		most := 0
		for _, c := range e.Children() {
			digits := notFixed
			if _, scale, exact := digitsOf(c.Type(t.Context)); exact {
				digits = scale
			} else if types.IsFloat(c.Type(t.Context)) {
				digits = t.decimals(c)
			}
			most = max(most, digits)
		}
		return min(most, notFixed)
	}
	return notFixed
}

// digitsOfTime is how many digits of a second a TIME has that an expression makes: six where nothing tells.
func (t teller) digitsOfTime(e gms.Expression) (digits int) {
	const most = 6
	e, t = t.origin(e)
	if e == nil {
		return most
	}
	_, greatest := e.(*function.Greatest)
	if _, least := e.(*function.Least); !greatest && !least && !types.IsTimespan(e.Type(t.Context)) {
		return fractionOf(t.Context, e)
	}
	args := e.Children()
	if values := ofOne(e); values != nil {
		args = values
	}
	switch f := e.(type) {
	case *expression.GetField:
		return t.clock.of(t.Context, &querypb.Field{Database: f.Database(), OrgTable: f.Table(), OrgName: f.Name(),
			Decimals: most})
	case *expression.Convert:
		return max(0, lengthOf(f))
	case *clocked:
		switch last := args[max(0, len(args)-1):]; {
		case f.name == "utc_time", f.name == "curtime", f.name == "current_time":
			return wantedDigits(args)
		case len(last) == 0, f.name != "time" && f.name != "addtime" && f.name != "subtime" && f.name != "timediff" &&
			types.IsText(last[0].Type(t.Context)):
			return most // a text that is a number
		}
	case *function.Time, *function.Greatest, *function.Least:
	default:
		if ofOne(e) == nil {
			return most
		}
	}
	for _, a := range args {
		digits = max(digits, t.digitsOfTime(a))
	}
	return digits
}

// wantedDigits is how many digits of a second an argument asks for: none without one.
func wantedDigits(args []gms.Expression) int {
	args = slices.DeleteFunc(slices.Clone(args), func(a gms.Expression) bool { return a == nil })
	if len(args) == 0 {
		return 0
	}
	if l, ok := innermost(args[0]).(*expression.Literal); ok {
		return int(max(0, min(6, number64(l.Value()))))
	}
	return 6
}
