package mysql

import (
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// clocks are functions of dates and times by name, which go-mysql-server has not, or which know nothing of a TIME
// there.
var clocks = map[string]clockwork{
	"hour":         {1, 1, ofInt, piece(func(t int64) any { return int32(t / 3_600_000_000) })},
	"minute":       {1, 1, ofInt, piece(func(t int64) any { return int32(t / 60_000_000 % 60) })},
	"second":       {1, 1, ofInt, piece(func(t int64) any { return int32(t / 1_000_000 % 60) })},
	"microsecond":  {1, 1, ofBig, piece(func(t int64) any { return t % 1_000_000 })},
	"time_to_sec":  {1, 1, ofBig, timeToSec},
	"to_seconds":   {1, 1, ofBig, toSeconds},
	"sec_to_time":  {1, 1, ofTime, secToTime},
	"makedate":     {2, 2, ofDate, makeDate},
	"maketime":     {3, 3, ofTime, makeTime},
	"period_add":   {2, 2, ofBig, periodAdd},
	"period_diff":  {2, 2, ofBig, periodDiff},
	"addtime":      {2, 2, ofFirst, shiftTime(1)},
	"subtime":      {2, 2, ofFirst, shiftTime(-1)},
	"utc_date":     {0, 0, ofDate, utcDate},
	"utc_time":     {0, 1, ofTime, utcTime},
	"session_user": {0, 0, ofText, user}, "system_user": {0, 0, ofText, user},
}

// clockwork is what makes the value of a function: of how many arguments, its type, and how. No argument is NULL then.
type clockwork struct {
	least, most int
	typ         func(ctx *gms.Context, args []gms.Expression) gms.Type
	eval        func(ctx *gms.Context, args []any) (any, error)
}

func ofInt(*gms.Context, []gms.Expression) gms.Type  { return types.Int32 }
func ofBig(*gms.Context, []gms.Expression) gms.Type  { return types.Int64 }
func ofTime(*gms.Context, []gms.Expression) gms.Type { return types.Time }
func ofDate(*gms.Context, []gms.Expression) gms.Type { return types.Date }
func ofText(*gms.Context, []gms.Expression) gms.Type { return types.LongText }

// ofFirst is a date with a time where the first argument is a date, a time where it is one, and else a text.
func ofFirst(ctx *gms.Context, args []gms.Expression) gms.Type {
	switch t := args[0].Type(ctx); {
	case types.IsTimespan(t):
		return types.Time
	case types.IsTime(t):
		return types.DatetimeMaxPrecision
	}
	return types.LongText
}

// piece is a part of the clock of a date or time.
func piece(of func(micros int64) any) func(*gms.Context, []any) (any, error) {
	return func(ctx *gms.Context, args []any) (any, error) {
		m, ok := momentOf(ctx, args[0])
		if !ok {
			return noMoment(ctx, args[0])
		}
		return of(max(m.time().AsMicroseconds(), -m.time().AsMicroseconds())), nil
	}
}

func noMoment(ctx *gms.Context, v any) (any, error) {
	text := text64(v)
	ctx.Warn(1292, "Truncated incorrect time value: '%s'", text[:min(len(text), 64)])
	return nil, nil
}

func timeToSec(ctx *gms.Context, args []any) (any, error) {
	m, ok := momentOf(ctx, args[0])
	if !ok {
		return noMoment(ctx, args[0])
	}
	return m.time().AsMicroseconds() / 1_000_000, nil
}

// toSeconds counts from the year 0, as TO_DAYS does.
func toSeconds(ctx *gms.Context, args []any) (any, error) {
	m, ok := dayOf(ctx, args[0])
	if !ok {
		return noMoment(ctx, args[0])
	}
	const before1970 = 719_528 * 24 * 60 * 60
	at := m.day
	hour, minute, second := at.Clock()
	return before1970 + time.Date(at.Year(), at.Month(), at.Day(), hour, minute, second, 0, time.UTC).Unix(), nil
}

func secToTime(ctx *gms.Context, args []any) (any, error) {
	micros, err := microseconds(ctx, args[0])
	return within(ctx, types.Timespan(micros)), err
}

// microseconds are those of a number of seconds, up to some that are too many for a TIME.
func microseconds(ctx *gms.Context, seconds any) (int64, error) {
	d, _, err := types.InternalDecimalType.Convert(ctx, seconds)
	n, ok := d.(*apd.Decimal)
	if err != nil || !ok {
		return 0, err
	}
	const most = 10 * int64(longestTime)
	moved := *n
	moved.Exponent += 6
	if moved.NumDigits()+int64(moved.Exponent) > 18 {
		if n.Negative {
			return -most, nil
		}
		return most, nil
	}
	var rounded apd.Decimal
	if _, err := apd.BaseContext.WithPrecision(100).Quantize(&rounded, &moved, 0); err != nil {
		return 0, err
	}
	return rounded.Int64()
}

// integers are the arguments as whole numbers.
func integers(ctx *gms.Context, args []any) (ns []int64, err error) {
	for _, a := range args {
		n, _, err := types.Int64.Convert(ctx, a)
		if err != nil && !gms.ErrTruncatedIncorrect.Is(err) {
			return nil, err
		}
		v, _ := n.(int64)
		ns = append(ns, v)
	}
	return ns, nil
}

func makeDate(ctx *gms.Context, args []any) (any, error) {
	n, err := integers(ctx, args)
	if err != nil || n[0] < 0 || n[0] > 9999 || n[1] < 1 || n[1] > 4_000_000 {
		return nil, err
	}
	if n[0] < 100 {
		n[0] = int64(century(int(n[0])))
	}
	day := time.Date(int(n[0]), time.January, int(n[1]), 0, 0, 0, 0, time.UTC)
	if day.Year() > 9999 {
		return nil, nil
	}
	return day, nil
}

func makeTime(ctx *gms.Context, args []any) (any, error) {
	n, err := integers(ctx, args[:2])
	if err != nil {
		return nil, err
	}
	micros, err := microseconds(ctx, args[2])
	if err != nil || n[1] < 0 || n[1] > 59 || micros < 0 || micros >= 60_000_000 {
		return nil, err
	}
	hours := max(-10_000, min(10_000, n[0]))
	span := max(hours, -hours)*3_600_000_000 + n[1]*60_000_000 + micros
	if hours < 0 {
		span = -span
	}
	return within(ctx, types.Timespan(span)), nil
}

// months are those of a period: of YYMM or YYYYMM.
func months(name string, period int64) (int64, error) {
	year, month := period/100, period%100
	if period < 0 || year > 9999 || month < 1 || month > 12 {
		return 0, sqlError(erWrongArguments, "HY000", "Incorrect arguments to %s", name)
	}
	if year < 100 {
		year = int64(century(int(year)))
	}
	return year*12 + month - 1, nil
}

func periodAdd(ctx *gms.Context, args []any) (any, error) {
	n, err := integers(ctx, args)
	if err != nil {
		return nil, err
	}
	m, err := months("period_add", n[0])
	if err != nil {
		return nil, err
	}
	if m += max(-200_000, min(200_000, n[1])); m < 0 {
		return nil, sqlError(erWrongArguments, "HY000", "Incorrect arguments to period_add")
	}
	return m/12*100 + m%12 + 1, nil
}

func periodDiff(ctx *gms.Context, args []any) (any, error) {
	n, err := integers(ctx, args)
	if err != nil {
		return nil, err
	}
	a, err := months("period_diff", n[0])
	if err != nil {
		return nil, err
	}
	b, err := months("period_diff", n[1])
	return a - b, err
}

// shiftTime adds a time, or subtracts it.
func shiftTime(sign types.Timespan) func(*gms.Context, []any) (any, error) {
	return func(ctx *gms.Context, args []any) (any, error) {
		m, ok := momentOf(ctx, args[0])
		by, also := momentOf(ctx, args[1])
		if !ok || !also || by.dated {
			return nil, nil
		}
		m = m.add(ctx, sign*by.clock)
		switch args[0].(type) {
		case time.Time:
			return m.day, nil
		case types.Timespan:
			return m.clock, nil
		}
		return m.text(), nil
	}
}

func utcDate(ctx *gms.Context, _ []any) (any, error) {
	return ctx.QueryTime().UTC().Truncate(24 * time.Hour), nil
}

func utcTime(ctx *gms.Context, args []any) (any, error) {
	digits := []int64{0}
	if len(args) == 1 {
		var err error
		if digits, err = integers(ctx, args); err != nil {
			return nil, err
		}
	}
	if digits[0] < 0 || digits[0] > 6 {
		return nil, sqlError(1426, "42000", "Too-big precision %d specified for 'utc_time'. Maximum is 6.", digits[0])
	}
	span := int64(moment{day: ctx.QueryTime().UTC(), dated: true}.time())
	unit := int64(1)
	for range 6 - digits[0] {
		unit *= 10
	}
	return types.Timespan(span / unit * unit), nil
}

func user(ctx *gms.Context, _ []any) (any, error) {
	c := ctx.Session.Client()
	return strings.Join([]string{c.User, c.Address}, "@"), nil
}
