package mysql

import (
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// longestDate is how much of a text is read as a date or time: it is in the first bytes, or nowhere. go-mysql-server
// tries every length of a text, and takes minutes of a processor for 100,000 digits.
const longestDate = 256

// dated are the functions that read texts as dates or times.
var dated = map[string]bool{
	"adddate": true, "addtime": true, "convert_tz": true, "date": true, "date_add": true, "date_format": true,
	"date_sub": true, "datediff": true, "datetime": true, "day": true,
	"dayname": true, "dayofmonth": true, "dayofweek": true, "dayofyear": true, "extract": true, "hour": true,
	"last_day": true, "microsecond": true, "minute": true,
	"month": true, "monthname": true, "quarter": true, "second": true, "subdate": true, "subtime": true, "time": true,
	"time_format": true, "time_to_sec": true,
	"timediff": true, "timestamp": true, "timestampadd": true, "timestampdiff": true, "to_days": true,
	"to_seconds": true, "unix_timestamp": true, "week": true, "weekday": true,
	"weekofyear": true, "year": true, "yearweek": true,
}

// datedIn is an expression that reads no more of a text than a date can have, where it reads dates. planned tells that
// the plan is made: until then columns and short literals of comparisons stay as they are, because the planner looks
// for them.
func datedIn(ctx *gms.Context, e gms.Expression, planned bool) (gms.Expression, transform.TreeIdentity, error) {
	reads := false
	switch f := e.(type) {
	case *plan.InSubquery:
		if types.IsTime(f.Left().Type(ctx)) && types.IsText(f.Right().Type(ctx)) {
			return nil, transform.SameTree, sqlError(erUnsupported, "42000", "A date or time that is compared with "+
				"texts of a subquery is not supported: use CAST(… AS DATETIME) in the subquery")
		}
		reads = types.IsText(f.Left().Type(ctx)) && types.IsTime(f.Right().Type(ctx))
	case *expression.Convert:
		reads = types.IsTime(f.Type(ctx))
	case *function.NullIf, expression.Comparer, *expression.Between, *expression.Case, *expression.InTuple,
		*expression.HashInTuple:
		reads = hasTime(ctx, e)
	case gms.FunctionExpression:
		reads = dated[strings.ToLower(f.FunctionName())]
	}
	if !reads {
		return e, transform.SameTree, nil
	}
	_, returned := e.(*function.NullIf)
	children, changed := cut(ctx, e.Children(), planned, returned)
	if !changed {
		return e, transform.SameTree, nil
	}
	bound, err := e.WithChildren(ctx, children...)
	return bound, transform.NewTree, err
}

// datedRows is a plan whose INSERTs read no more of a text than a date can have, in the columns that are dates or
// times, and fill the others with what they ask for.
func datedRows(ctx *gms.Context, n gms.Node) (gms.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *gms.Context, n gms.Node) (gms.Node, transform.TreeIdentity,
		error) {
		insert, ok := n.(*plan.InsertInto)
		if !ok {
			return n, transform.SameTree, nil
		}
		rows, ok := insert.Source.(*plan.Project)
		into := insert.Destination.Schema(ctx)
		if !ok || len(rows.Projections) != len(into) {
			return n, transform.SameTree, nil
		}
		expressions := append([]gms.Expression(nil), rows.Projections...)
		for i, c := range into {
			switch _, usual := expressions[i].(*gms.ColumnDefaultValue); {
			case usual:
			case types.IsTime(c.Type):
				expressions[i] = &seen[cutter]{expressions[i], cutter{}}
			default:
				expressions[i] = fillingFrom(ctx, rows.Child, expressions[i], c)
			}
		}
		source := plan.NewProject(ctx, expressions, fillingValues(ctx, rows.Child, rows.Projections, into))
		return insert.WithSource(source), transform.NewTree, nil
	})
}

// hasTime tells whether one of the values that are compared is a date or a time: then the others are read as one.
func hasTime(ctx *gms.Context, e gms.Expression) bool {
	for _, c := range e.Children() {
		if t, ok := c.(expression.Tuple); ok && hasTime(ctx, t) || c != nil && types.IsTime(c.Type(ctx)) {
			return true
		}
	}
	return false
}

// cut puts a cutter around texts.
func cut(ctx *gms.Context, children []gms.Expression, planned, returned bool) (all []gms.Expression, changed bool) {
	all = append([]gms.Expression(nil), children...)
	for i, c := range all {
		switch c := c.(type) {
		case *seen[cutter], *expression.Interval:
		case *expression.GetField, *expression.BindVar:
			if planned { // whatever its type is: that of a recursive CTE's column is the first row's
				all[i], changed = &seen[cutter]{c, cutter{returned}}, true
			}
		case *expression.Literal:
			if valueBytes(c.Value()) > longestDate {
				all[i], changed = &seen[cutter]{c, cutter{returned}}, true
			}
		case expression.Tuple:
			if some, ok := cut(ctx, c, planned, returned); ok {
				all[i], changed = expression.NewTuple(some...), true
			}
		default:
			_, in := c.(*plan.Subquery) // IN (SELECT …) wants it as it is
			if c != nil && (planned && !in || !types.IsTime(c.Type(ctx)) && !types.IsNumber(c.Type(ctx))) {
				all[i], changed = &seen[cutter]{c, cutter{returned}}, true
			}
		}
	}
	return all, changed
}

// cutter shortens a text that is read as a date.
type cutter struct {
	returned bool // it may be the answer, too, and is refused when it is too long
}

func (c cutter) look(_ *gms.Context, v any) (any, error) {
	switch text := v.(type) {
	case string:
		if len(text) <= longestDate {
			return v, nil
		}
		v = text[:longestDate]
	case []byte:
		if len(text) <= longestDate {
			return v, nil
		}
		v = text[:longestDate]
	default:
		return v, nil
	}
	if c.returned {
		return nil, sqlError(erTruncated, "22007", "Incorrect datetime value: a text of more than %d bytes is "+
			"compared with a date or time", longestDate)
	}
	return v, nil
}
