package mysql

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// filling is what an INSERT puts into a column: a date as the number or text that it is written as, bits as a number.
// go-mysql-server puts the seconds since 1970 into numbers, and a time of day behind each date.
func filling(ctx *gms.Context, e gms.Expression, column *gms.Column) gms.Expression {
	switch t := column.Type; {
	case types.IsYear(t), types.IsBit(t):
		e, _ = bitsNumber(e)
		e = &seen[enumerated]{e, enumerated{column}}
	case types.IsEnum(t), types.IsSet(t):
		e = &seen[enumerated]{e, enumerated{column}}
	case types.IsNumber(t):
		e, _ = numeralOf(ctx, e, types.IsInteger(t))
		e = &seen[spelled]{e, spelled{column}}
	case types.IsJSON(t):
		of, _ := dateOf(e.Type(ctx))
		e = &seen[documented]{e, documented{of.day}}
	case types.IsTimespan(t):
		e = &seen[timely]{e, timely{column}}
	case types.IsTextBlob(t), types.IsTextOnly(t), types.IsBinaryType(t):
		e, _ = writtenOf(ctx, e)
	}
	return e
}

// fillingFrom is filling for what an INSERT takes from a node. A column of it has its own type: go-mysql-server gives
// it that of the column that it is put into. One of VALUES is filled where it is made.
func fillingFrom(ctx *gms.Context, from gms.Node, e gms.Expression, column *gms.Column) gms.Expression {
	if f, ok := e.(*expression.GetField); ok {
		if _, made := from.(*plan.Values); made {
			return e
		}
		if schema := from.Schema(ctx); f.Index() >= 0 && f.Index() < len(schema) {
			e = expression.NewGetField(f.Index(), schema[f.Index()].Type, f.Name(), f.IsNullable(ctx))
		}
	}
	return filling(ctx, e, column)
}

// fillingValues are the VALUES of an INSERT, of which from tells where each column's stands; another node is as it was.
func fillingValues(ctx *gms.Context, n gms.Node, from []gms.Expression, into gms.Schema) gms.Node {
	values, ok := n.(*plan.Values)
	if !ok {
		return n
	}
	made := *values
	made.ExpressionTuples = slices.Clone(values.ExpressionTuples)
	for r, row := range made.ExpressionTuples {
		row = slices.Clone(row)
		for i, c := range into {
			if f, ok := from[i].(*expression.GetField); ok && f.Index() < len(row) {
				if _, usual := row[f.Index()].(*gms.ColumnDefaultValue); !usual {
					row[f.Index()] = filling(ctx, row[f.Index()], c)
				}
			}
		}
		made.ExpressionTuples[r] = row
	}
	return &made
}

// spelled is a text or double for a column of numbers. A text of blanks is none: go-mysql-server takes it for 0. A
// double between two whole numbers becomes the even one.
type spelled struct{ column *gms.Column }

func (s spelled) look(ctx *gms.Context, v any) (any, error) {
	if f, ok := v.(float64); ok && types.IsInteger(s.column.Type) {
		return math.RoundToEven(f), nil
	}
	text, ok := v.(string)
	if m := meterOf(ctx); !ok || m == nil || !m.strict || strings.Trim(text, blanks) != "" {
		return v, nil
	}
	kind := "integer"
	switch {
	case types.IsDecimal(s.column.Type):
		kind = "decimal"
	case !types.IsInteger(s.column.Type):
		kind = "double"
	}
	return nil, sqlError(erWrongValue, "HY000", "Incorrect %s value: '%s' for column '%s'", kind, head(text, maxShown),
		s.column.Name)
}

// timely is what is put into a TIME, read as MySQL reads it. go-mysql-server loses the fraction of a number, shortens
// what is too long, and refuses a date with a time.
type timely struct{ column *gms.Column }

func (t timely) look(ctx *gms.Context, v any) (any, error) {
	switch v.(type) {
	case time.Time, types.Timespan:
		return v, nil
	}
	text := strings.Trim(text64(numberOfTruth(v)), blanks)
	m, cut, ok := readClock(text[:min(len(text), longestDate)])
	span := m.time()
	if ok && !cut && text != "" && -longestTime <= span && span <= longestTime {
		return span, nil
	}
	if s := meterOf(ctx); s != nil && s.strict {
		return nil, sqlError(erWrongTime, "22007", "Incorrect time value: '%s' for column '%s'",
			head(text64(v), maxShown), t.column.Name)
	}
	return v, nil
}

// blanks are what MySQL passes over around a number or time.
const blanks = " \t\n\r\v\f"

// documented is what is put into a JSON: a text is read, a date or time is a text in it.
type documented struct{ day bool }

func (d documented) look(_ *gms.Context, v any) (any, error) {
	switch n := v.(type) {
	case time.Time:
		if d.day {
			return types.JSONDocument{Val: n.Format(time.DateOnly)}, nil
		}
		return types.JSONDocument{Val: n.Format(time.DateTime + ".000000")}, nil
	case types.Timespan:
		text := n.String()
		if !strings.Contains(text, ".") {
			text += ".000000"
		}
		return types.JSONDocument{Val: text}, nil
	}
	return exactDocument(v), nil
}

// enumerated is a number for a column that is a year or bits, or chooses by number: of a double MySQL takes the whole
// part. go-mysql-server takes the low bits of one that is too large, and no truth.
type enumerated struct{ column *gms.Column }

func (e enumerated) look(ctx *gms.Context, v any) (any, error) {
	var exact *apd.Decimal
	rounding := apd.RoundDown
	switch n := v.(type) {
	case bool:
		return numberOfTruth(v), nil
	case string:
		if types.IsYear(e.column.Type) {
			return strings.Trim(n, blanks), nil
		}
		return v, nil
	case float64:
		d, err := new(apd.Decimal).SetFloat64(n)
		if err != nil {
			return v, nil
		}
		exact = d
	case *apd.Decimal:
		if exact = n; types.IsBit(e.column.Type) || types.IsYear(e.column.Type) {
			rounding = apd.RoundHalfUp
		}
	default:
		return v, nil
	}
	whole, context := new(apd.Decimal), gms.DecimalCtx
	context.Rounding = rounding
	_, _ = context.RoundToIntegralValue(whole, exact)
	if n, err := whole.Int64(); err == nil {
		return n, nil
	}
	if n, err := strconv.ParseUint(whole.Text('f'), 10, 64); err == nil && types.IsBit(e.column.Type) {
		return n, nil
	}
	if m := meterOf(ctx); m != nil && m.strict {
		return nil, sqlError(1264, "22003", "Out of range value for column '%s'", e.column.Name)
	}
	return v, nil
}
