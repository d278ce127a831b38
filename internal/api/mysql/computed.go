package mysql

import (
	"slices"
	"strings"
	"unicode/utf8"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// computed is what a statement's plan tells of a column of its answer, and the schema does not.
type computed struct {
	chars    int  // that a text has at most; -1: nothing tells
	digits   int  // of a second that a TIME has
	nullable bool // it may be NULL, whatever the schema says
}

// computedIn looks at a plan's columns; nil: they are not made of expressions.
func computedIn(ctx *gms.Context, d *Server, n gms.Node) []computed {
	for {
		expressions, below := made(n)
		if expressions == nil {
			if below == nil || len(below.Schema(ctx)) != len(n.Schema(ctx)) {
				return nil
			}
			n = below
			continue
		}
		aggregates := emptyAggregates(ctx, n)
		columns := make([]computed, len(expressions))
		for i, e := range expressions {
			columns[i] = computed{chars: charsOf(ctx, e), digits: d.digitsOfTime(ctx, e),
				nullable: mayBeEmpty(ctx, e, aggregates)}
		}
		return columns
	}
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

// emptyAggregates are the names of those columns below a node that are NULL where there are no rows.
func emptyAggregates(ctx *gms.Context, n gms.Node) map[string]bool {
	names := map[string]bool{}
	for n != nil {
		expressions, below := made(n)
		switch n.(type) {
		case *plan.GroupBy, *plan.Window:
			schema := n.Schema(ctx)
			for i, e := range expressions {
				if isEmptyAggregate(e) && i < len(schema) {
					names[strings.ToLower(schema[i].Name)] = true
				}
			}
			return names
		}
		n = below
	}
	return names
}

func isEmptyAggregate(e gms.Expression) bool {
	switch e := e.(type) {
	case *expression.Alias:
		return isEmptyAggregate(e.Child)
	case *aggregation.Sum, *aggregation.Max, *aggregation.Min, *aggregation.Avg:
		return true
	}
	return false
}

// mayBeEmpty tells whether an expression is NULL where an aggregate in it is.
func mayBeEmpty(ctx *gms.Context, e gms.Expression, aggregates map[string]bool) (empty bool) {
	whole := true
	transform.InspectExpr(ctx, e, func(_ *gms.Context, e gms.Expression) bool {
		switch e := e.(type) {
		case *expression.GetField:
			empty = empty || aggregates[strings.ToLower(e.Name())]
		case *function.Coalesce, *function.IfNull, *expression.IsNull, *expression.NullSafeEquals:
			whole = false
		default:
			empty = empty || isEmptyAggregate(e)
		}
		return false
	})
	return empty && whole
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

// longestVarchar is how many letters a text has at most that is no LONGTEXT.
const longestVarchar = 65_535 / 4

// sumOfArguments are functions whose texts are as long as all of their arguments, and ofArgument those that are no
// longer than the longest.
var (
	sumOfArguments = map[string]bool{"concat": true}
	ofArgument     = map[string]bool{"coalesce": true, "ifnull": true, "if": true, "nullif": true, "upper": true,
		"ucase": true, "lower": true, "lcase": true, "trim": true, "ltrim": true, "rtrim": true, "reverse": true,
		"substring": true, "substr": true, "mid": true, "left": true, "right": true}
	fixedLength = map[string]int{"md5": 32, "sha": 40, "sha1": 40, "sha2": 128, "version": 60, "uuid": 36,
		"database": 64, "schema": 64, "user": 288, "current_user": 288, "session_user": 288, "system_user": 288,
		"dayname": 9, "monthname": 9, "bin": 64, "oct": 64, "conv": 64}
)

// charsOf is how many letters an expression's text has at most; -1 where that is too many or nothing tells.
func charsOf(ctx *gms.Context, e gms.Expression) int {
	e = innermost(e)
	if e == nil {
		return -1
	}
	n := -1
	t := e.Type(ctx)
	switch f := e.(type) {
	case *expression.Literal:
		if text, ok := f.Value().(string); ok {
			n = utf8.RuneCountInString(text)
		} else if f.Value() == nil {
			n = 0
		} else {
			n = charsOfType(ctx, t)
		}
	case *expression.Case:
		return charsOfCase(ctx, f)
	case *expression.Convert:
		if n = charsOfType(ctx, t); n < 0 && types.IsTextOnly(t) {
			n = charsOf(ctx, f.Child)
		}
	case gms.FunctionExpression:
		n = charsOfFunction(ctx, f, t)
	default:
		n = charsOfType(ctx, t)
	}
	if n > longestVarchar {
		return -1
	}
	return n
}

func charsOfCase(ctx *gms.Context, c *expression.Case) (most int) {
	for _, b := range c.Branches {
		n := charsOf(ctx, b.Value)
		if n < 0 {
			return n
		}
		most = max(most, n)
	}
	if c.Else == nil {
		return most
	}
	n := charsOf(ctx, c.Else)
	if n < 0 {
		return n
	}
	return max(most, n)
}

func charsOfFunction(ctx *gms.Context, f gms.FunctionExpression, t gms.Type) int {
	name, children := strings.ToLower(f.FunctionName()), f.Children()
	if fixed, ok := fixedLength[name]; ok {
		return fixed
	}
	sum, most := 0, 0
	if sumOfArguments[name] || ofArgument[name] && types.IsTextOnly(t) || name == "hex" {
		for _, c := range children {
			n := charsOf(ctx, c)
			if n < 0 {
				return -1
			}
			sum, most = sum+n, max(most, n)
		}
	}
	switch {
	case name == "hex":
		return max(16, 8*most) // two of each byte
	case sumOfArguments[name]:
		return sum
	case ofArgument[name] && types.IsTextOnly(t):
		return most
	}
	return charsOfType(ctx, t)
}

// charsOfType is how many letters a value of a type has at most.
func charsOfType(ctx *gms.Context, t gms.Type) int {
	switch s := t.(type) {
	case gms.StringType:
		if n := s.MaxCharacterLength(); types.IsTextOnly(t) && n <= longestVarchar {
			return int(n)
		}
		return -1
	case gms.DatetimeType:
		return len("2006-01-02 15:04:05.000000")
	}
	switch {
	case types.IsInteger(t), types.IsDecimal(t), types.IsTimespan(t):
		return int(t.MaxTextResponseByteLength(ctx))
	}
	return -1
}

// digitsOfTime is how many digits of a second a TIME has that an expression makes: six where nothing tells.
func (d *Server) digitsOfTime(ctx *gms.Context, e gms.Expression) int {
	const most = 6
	e = innermost(e)
	if e == nil {
		return most
	}
	if !types.IsTimespan(e.Type(ctx)) {
		return fractionOf(ctx, e)
	}
	args := e.Children()
	switch f := e.(type) {
	case *expression.GetField:
		return d.timeDigits(&querypb.Field{Database: f.Database(), OrgTable: f.Table(), OrgName: f.Name(),
			Decimals: most})
	case *function.CurrTime:
		return wantedDigits(args)
	case *clocked:
		switch last := args[max(0, len(args)-1):]; {
		case f.name == "utc_time":
			return wantedDigits(args)
		case len(last) == 0, f.name != "addtime" && f.name != "subtime" && types.IsText(last[0].Type(ctx)):
			return most // a text that is a number
		}
	case *function.Time, *function.TimeDiff:
	default:
		return most
	}
	digits := 0
	for _, a := range args {
		digits = max(digits, d.digitsOfTime(ctx, a))
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
