package mysql

import (
	"math"
	"strings"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// moved is a date or time to which an interval is added, or from which it is subtracted. go-mysql-server's own counts
// nanoseconds in 64 bits, in which 293 years have no room, and knows neither a TIME nor where MySQL's dates end.
type moved struct{ gms.Expression }

func (m *moved) inner() gms.Expression      { return m.Expression }
func (m *moved) Children() []gms.Expression { return []gms.Expression{m.Expression} }

// CollationCoercibility is the inner expression's.
func (m *moved) CollationCoercibility(ctx *gms.Context) (gms.CollationID, byte) {
	return gms.GetCoercibility(ctx, m.Expression)
}

// WithChildren implements gms.Expression.
func (m *moved) WithChildren(_ *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	if len(children) != 1 {
		return nil, gms.ErrInvalidChildrenNumber.New(m, len(children), 1)
	}
	return &moved{children[0]}, nil
}

// parts are the date, the interval and the direction of a DATE_ADD or DATE_SUB.
func (m *moved) parts() (date gms.Expression, by *expression.Interval, sign int64) {
	switch f := innermost(m.Expression).(type) {
	case *function.DateAdd:
		return f.Date, f.Interval, 1
	case *function.DateSub:
		return f.Date, f.Interval, -1
	}
	return nil, nil, 0
}

// Eval is the date so much later, or NULL with a warning where MySQL has no such date.
func (m *moved) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	date, by, sign := m.parts()
	if date == nil {
		return m.Expression.Eval(ctx, row)
	}
	from, err := date.Eval(ctx, row)
	if err != nil || from == nil {
		return nil, err
	}
	number, err := by.Child.Eval(ctx, row)
	if err != nil || number == nil {
		return nil, err
	}
	if from, err = gms.UnwrapAny(ctx, from); err != nil {
		return nil, err
	}
	if inexact, ok := number.(float64); ok { // MySQL makes half of a DOUBLE even, and of a DECIMAL larger
		number = math.RoundToEven(inexact)
	}
	// go-mysql-server reads the number; what it multiplies would not fit.
	of, unit := unitOf(by.Unit)
	delta, err := expression.NewInterval(expression.NewLiteral(number, by.Child.Type(ctx)), of).EvalDelta(ctx, row)
	if err != nil {
		return nil, err
	}
	count := delta.Months + delta.Days + delta.Microseconds // of which one is not 0
	typ := m.Expression.Type(ctx)
	if clock, ok := from.(types.Timespan); ok && types.IsTimespan(typ) {
		const most = 2 * int64(longestTime)
		if count > most/unit || count < -most/unit {
			return overflow(ctx, "time")
		}
		return within(ctx, clock+types.Timespan(sign*count*unit)), nil
	}
	at, ok := dayOf(ctx, from)
	if clock, is := from.(types.Timespan); is {
		year, month, day := ctx.QueryTime().Date()
		at, ok = moment{day: time.Date(year, month, day, 0, 0, 0, 0, time.UTC), dated: true}.add(ctx, clock), true
	}
	if !ok {
		ctx.Warn(erTruncated, "Incorrect datetime value: '%.64s'", text64(from))
		return nil, nil
	}
	var later time.Time
	if of == "MONTH" {
		later, ok = monthsLater(at.day, sign*max(-manyMonths, min(manyMonths, count)), unit)
	} else {
		later, ok = laterBy(at.day, sign, count, unit)
	}
	if !ok {
		return overflow(ctx, "datetime")
	}
	if !types.IsText(typ) {
		to, _, err := typ.Convert(ctx, later)
		return to, err
	}
	text := text64(from)
	if of != "MICROSECOND" && !strings.ContainsAny(text, ":T ") && len(text) <= len(time.DateOnly) {
		return later.Format(time.DateOnly), nil
	}
	return moment{day: later, dated: true}.text(), nil
}

const (
	dayMicros  = 24 * 60 * 60 * 1_000_000
	lastDays   = 3_652_424 // from the year 0 to the end of 9999
	manyMonths = 12 * 10_000
)

// unitOf is the unit in which an interval is counted, and how many of those, of months or of microseconds, each of its
// own has.
func unitOf(unit string) (of string, each int64) {
	switch strings.ToUpper(unit) {
	case "YEAR":
		return "MONTH", 12
	case "QUARTER":
		return "MONTH", 3
	case "MONTH":
		return "MONTH", 1
	case "WEEK":
		return "DAY", 7 * dayMicros
	case "DAY":
		return "DAY", dayMicros
	case "HOUR":
		return "MICROSECOND", 3600 * 1_000_000
	case "MINUTE":
		return "MICROSECOND", 60 * 1_000_000
	case "SECOND":
		return "MICROSECOND", 1_000_000
	}
	return "MICROSECOND", 1
}

// monthsLater is the same day of another month, or its last one.
func monthsLater(t time.Time, count, each int64) (time.Time, bool) {
	month := int64(t.Year())*12 + int64(t.Month()) - 1 + count*each
	if month < 0 || month >= manyMonths {
		return t, false
	}
	first := time.Date(int(month/12), time.Month(month%12)+1, 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(),
		time.UTC)
	return first.AddDate(0, 0, min(t.Day(), first.AddDate(0, 1, -1).Day())-1), true
}

// laterBy is a time so many units of microseconds later.
func laterBy(t time.Time, sign, count, unit int64) (time.Time, bool) {
	if most := lastDays * dayMicros / unit; count > most || count < -most {
		return t, false
	}
	by := sign * count * unit
	t = t.AddDate(0, 0, int(by/dayMicros)).Add(time.Duration(by%dayMicros) * time.Microsecond)
	return t, t.Year() >= 1 && t.Year() <= 9999
}
