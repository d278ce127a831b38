package mysql

import (
	"fmt"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
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
	"addtime":      {2, 2, ofFirst, shiftTime("addtime", 1)},
	"subtime":      {2, 2, ofFirst, shiftTime("subtime", -1)},
	"timediff":     {2, 2, ofTime, timeDiff},
	"timestamp":    {1, 2, ofDatetime, timestamp},
	"utc_date":     {0, 0, ofDate, utcDate},
	"curdate":      {0, 0, ofDate, today},
	"current_date": {0, 0, ofDate, today},
	"utc_time":     {0, 1, ofTime, clockTime("utc_time", true)},
	"curtime":      {0, 1, ofTime, clockTime("curtime", false)},
	"current_time": {0, 1, ofTime, clockTime("current_time", false)},
	"session_user": {0, 0, ofText, user}, "system_user": {0, 0, ofText, user},
	"time_format":   {2, 2, ofText, timeFormat},
	"from_unixtime": {1, 2, ofSeconds, fromUnixtime},
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
		return ofDatetime(ctx, args)
	}
	return types.LongText
}

// ofDatetime is a date with a time, and with as many digits of a second as its arguments have.
func ofDatetime(ctx *gms.Context, args []gms.Expression) gms.Type {
	digits := 0
	for _, a := range args {
		digits = max(digits, fractionOf(ctx, a))
	}
	typ, err := types.CreateDatetimeType(sqltypes.Datetime, digits)
	if err != nil {
		return types.DatetimeMaxPrecision
	}
	return typ
}

// fractionOf is how many digits of a second an expression has: six where nothing tells.
func fractionOf(ctx *gms.Context, e gms.Expression) int {
	const most = 6
	t := e.Type(ctx)
	if types.IsTime(t) {
		if d, ok := t.(gms.DatetimeType); ok {
			return d.Precision()
		}
	}
	if _, scale, exact := digitsOf(t); exact {
		return min(scale, most)
	}
	if l, ok := e.(*expression.Literal); ok && types.IsText(t) {
		_, fraction, _ := strings.Cut(text64(l.Value()), ".")
		return min(len(fraction)-len(strings.TrimLeft(fraction, "0123456789")), most)
	}
	return most
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
	ctx.Warn(1292, "Truncated incorrect time value: '%.64s'", text)
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
	n, err := numberOf(ctx, seconds)
	if err != nil {
		return 0, err
	}
	micros := *n
	micros.Exponent += 6
	return wholeNumberOf(&micros)
}

// wholeNumberOf is a number without its fraction, rounded, and no farther from 0 than 10 to the 18th.
func wholeNumberOf(n *apd.Decimal) (int64, error) {
	if n.IsZero() {
		return 0, nil
	}
	if n.NumDigits()+int64(n.Exponent) > 18 {
		most := int64(1_000_000_000_000_000_000)
		if n.Negative {
			return -most, nil
		}
		return most, nil
	}
	var rounded apd.Decimal
	if _, err := apd.BaseContext.WithPrecision(uint32(n.NumDigits())+100).Quantize(&rounded, n, 0); err != nil {
		return 0, err
	}
	return rounded.Int64()
}

// numberOf is a value as a number: that which a text begins with, and of a date or time its digits. A longer text is
// too large a number at its beginning already.
func numberOf(ctx *gms.Context, v any) (*apd.Decimal, error) {
	switch at := v.(type) {
	case gms.JSONWrapper:
		return documentNumber(ctx, at)
	case types.Timespan:
		v = strings.ReplaceAll(at.String(), ":", "")
	case time.Time:
		v = at.Format("20060102150405.000000")
	}
	switch v.(type) {
	case string, []byte, float32, float64:
		text := text64(v)
		sign, whole, fraction, power := decimalNumber(text[:min(len(text), longestDate)])
		number := sign + "0" + whole + "." + fraction + "0"
		switch {
		case len(power) > 4 && power[0] == '-':
			number = "0"
		case len(power) > 4:
			number += "e999"
		case strings.Trim(power, "+-") != "":
			number += "e" + power
		}
		n, _, err := apd.NewFromString(number)
		if whole+fraction == "" {
			ctx.Warn(1292, "Truncated incorrect DECIMAL value: '%.64s'", text)
		}
		return n, err
	}
	d, _, err := types.InternalDecimalType.Convert(ctx, v)
	if n, ok := d.(*apd.Decimal); ok {
		return n, err
	}
	return apd.New(0, 0), err
}

// integers are the arguments as whole numbers.
func integers(ctx *gms.Context, args []any) (ns []int64, err error) {
	for _, a := range args {
		n, err := integerOf(ctx, a)
		if err != nil {
			return nil, err
		}
		whole, err := wholeNumberOf(n)
		if err != nil {
			return nil, err
		}
		ns = append(ns, whole)
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
func shiftTime(name string, sign types.Timespan) func(*gms.Context, []any) (any, error) {
	return func(ctx *gms.Context, args []any) (any, error) {
		m, ok := momentOf(ctx, args[0])
		by, also := momentOf(ctx, args[1])
		if !ok || !also || by.dated {
			return nil, nil
		}
		m = m.add(ctx, sign*by.clock)
		if !m.possible() {
			return overflow(ctx, name)
		}
		switch args[0].(type) {
		case time.Time:
			return m.day, nil
		case types.Timespan:
			return m.clock, nil
		}
		return m.text(), nil
	}
}

func overflow(ctx *gms.Context, name string) (any, error) {
	ctx.Warn(1441, "Datetime function: %s field overflow", name)
	return nil, nil
}

// timestamp is a day with its clock, and a time later.
func timestamp(ctx *gms.Context, args []any) (any, error) {
	at, ok := dayOf(ctx, args[0])
	if !ok {
		return noMoment(ctx, args[0])
	}
	if len(args) == 2 {
		by, ok := momentOf(ctx, args[1])
		if !ok || by.dated {
			return noMoment(ctx, args[1])
		}
		at = at.add(ctx, by.clock)
	}
	if !at.possible() {
		return overflow(ctx, "timestamp")
	}
	return at.day, nil
}

func utcDate(ctx *gms.Context, _ []any) (any, error) {
	return ctx.QueryTime().UTC().Truncate(24 * time.Hour), nil
}

// today is the day in the session's time zone, in which the clock of a statement is.
func today(ctx *gms.Context, _ []any) (any, error) {
	year, month, day := ctx.QueryTime().Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC), nil
}

// clockTime is the time of day, here or in UTC, with the digits of a second that are asked for.
func clockTime(name string, utc bool) func(*gms.Context, []any) (any, error) {
	return func(ctx *gms.Context, args []any) (any, error) {
		digits := []int64{0}
		if len(args) == 1 {
			var err error
			if digits, err = integers(ctx, args); err != nil {
				return nil, err
			}
		}
		if digits[0] < 0 || digits[0] > 6 {
			return nil, sqlError(1426, "42000", "Too-big precision %d specified for '%s'. Maximum is 6.", digits[0],
				name)
		}
		now := ctx.QueryTime()
		if utc {
			now = now.UTC()
		}
		span, unit := int64(moment{day: now, dated: true}.time()), int64(1)
		for range 6 - digits[0] {
			unit *= 10
		}
		return types.Timespan(span / unit * unit), nil
	}
}

func user(ctx *gms.Context, _ []any) (any, error) {
	c := ctx.Session.Client()
	return strings.Join([]string{c.User, c.Address}, "@"), nil
}

// ofSeconds is a date with the digits of the seconds, or the text that a format makes of it.
func ofSeconds(ctx *gms.Context, args []gms.Expression) gms.Type {
	if len(args) > 1 {
		return types.LongText
	}
	if _, scale, exact := digitsOf(args[0].Type(ctx)); exact {
		return types.MustCreateDatetimeType(sqltypes.Datetime, min(scale, 6))
	}
	return types.DatetimeMaxPrecision
}

// fromUnixtime is the time so many seconds behind 1970, in the connection's time zone.
func fromUnixtime(ctx *gms.Context, args []any) (any, error) {
	number, _, err := types.InternalDecimalType.Convert(ctx, args[0])
	if gms.ErrTruncatedIncorrect.Is(err) {
		ctx.Warn(1292, "%s", err.Error())
		err = nil
	}
	seconds, ok := number.(*apd.Decimal)
	if err != nil || !ok { // no time at all, or beyond all
		return nil, nil
	}
	micros := new(apd.Decimal)
	exact := apd.BaseContext.WithPrecision(uint32(seconds.NumDigits()) + maxScale)
	if _, err := exact.Quantize(micros, seconds, -6); err != nil {
		return nil, err
	}
	micros.Exponent = 0
	n, err := micros.Int64()
	if err != nil || n < 0 || n/1_000_000 > function.MaxUnixTimeSecs {
		return nil, nil
	}
	zone, err := function.SessionTimeZone(ctx)
	if err != nil {
		return nil, err
	}
	t, _ := gms.ConvertTimeZone(time.UnixMicro(n).UTC(), "UTC", zone)
	if len(args) == 1 {
		return t, nil
	}
	return function.NewDateFormat(ctx, expression.NewLiteral(t, types.DatetimeMaxPrecision),
		expression.NewLiteral(text64(args[1]), types.LongText)).Eval(ctx, nil)
}

// timeFormat writes a clock, whose hours may be more than a day's.
func timeFormat(ctx *gms.Context, args []any) (any, error) {
	m, ok := momentOf(ctx, args[0])
	if !ok {
		return noMoment(ctx, args[0])
	}
	micros := m.time().AsMicroseconds()
	var out strings.Builder
	if micros < 0 {
		out.WriteByte('-')
		micros = -micros
	}
	hour, minute, second := micros/3_600_000_000, micros/60_000_000%60, micros/1_000_000%60
	twelve, half := (hour+11)%12+1, "AM"
	if hour%24 >= 12 {
		half = "PM"
	}
	format := text64(args[1])
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			out.WriteByte(format[i])
			continue
		}
		i++
		switch format[i] {
		case 'H':
			fmt.Fprintf(&out, "%02d", hour)
		case 'k':
			fmt.Fprintf(&out, "%d", hour)
		case 'h', 'I':
			fmt.Fprintf(&out, "%02d", twelve)
		case 'l':
			fmt.Fprintf(&out, "%d", twelve)
		case 'i':
			fmt.Fprintf(&out, "%02d", minute)
		case 's', 'S':
			fmt.Fprintf(&out, "%02d", second)
		case 'f':
			fmt.Fprintf(&out, "%06d", micros%1_000_000)
		case 'p':
			out.WriteString(half)
		case 'r':
			fmt.Fprintf(&out, "%02d:%02d:%02d %s", twelve, minute, second, half)
		case 'T':
			fmt.Fprintf(&out, "%02d:%02d:%02d", hour, minute, second)
		case 'Y':
			out.WriteString("0000")
		case 'y', 'm', 'd':
			out.WriteString("00")
		case 'c', 'e':
			out.WriteByte('0')
		case 'M', 'W', 'a', 'b', 'D', 'j', 'U', 'u', 'V', 'v', 'X', 'x', 'w': // a time has no day
			return nil, nil
		default:
			out.WriteByte(format[i])
		}
	}
	return out.String(), nil
}
