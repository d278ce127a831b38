package mysql

import (
	"strings"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
)

// calendar are functions of parts of dates and times by name, of which go-mysql-server's own read fewer texts, no TIME,
// or count the weeks at the end of a year otherwise.
var calendar = map[string]clockwork{
	"time":       {1, 1, ofTime, timeOf},
	"week":       {1, 2, ofInt, weekOf(0, false)},
	"weekofyear": {1, 1, ofInt, weekOf(weekMonday|weekOfYear, false)},
	"yearweek":   {1, 2, ofInt, weekOf(weekOfYear, true)},
	"extract":    {2, 2, ofBig, extract},

	"str_to_date": {2, 2, ofFormat, strToDate},
}

func timeOf(ctx *gms.Context, args []any) (any, error) {
	m, ok := momentOf(ctx, args[0])
	if !ok {
		return noMoment(ctx, args[0])
	}
	return m.time(), nil
}

// How weeks are counted, as the bits of MySQL's modes say.
const (
	weekMonday = 1 // they begin on Mondays, or else on Sundays
	weekOfYear = 2 // those before the first one are of the year before
	weekFirst  = 4 // the first one begins in the year, or else has four days of it (the other way round with Sundays)
)

// weekOf is the week of a date, perhaps behind its year.
func weekOf(always int, withYear bool) func(*gms.Context, []any) (any, error) {
	return func(ctx *gms.Context, args []any) (any, error) {
		mode := int64(always)
		if len(args) > 1 {
			n, err := integers(ctx, args[1:])
			if err != nil {
				return nil, err
			}
			mode |= n[0] & 7
		}
		m, ok := dayOf(ctx, args[0])
		if !ok {
			return noMoment(ctx, args[0])
		}
		if mode&weekMonday == 0 {
			mode ^= weekFirst
		}
		year, week := weekIn(m.day, int(mode))
		if withYear {
			week += year * 100
		}
		return int32(week), nil
	}
}

// weekIn is the week of a day and the year that it is of.
func weekIn(t time.Time, mode int) (year, week int) {
	first := func(year int) time.Time { // where the first week of a year begins
		day := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC)
		since := int(day.Weekday()) // days from where its week begins
		if mode&weekMonday != 0 {
			since = (since + 6) % 7
		}
		if mode&weekFirst != 0 && since != 0 || mode&weekFirst == 0 && since >= 4 {
			return day.AddDate(0, 0, 7-since)
		}
		return day.AddDate(0, 0, -since)
	}
	year = t.Year()
	t = time.Date(year, t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	from := first(year)
	switch next := first(year + 1); {
	case t.Before(from) && mode&weekOfYear == 0:
		return year, 0
	case t.Before(from):
		year--
		from = first(year)
	case !t.Before(next) && mode&weekOfYear != 0:
		return year + 1, 1
	}
	return year, int(t.Sub(from).Hours())/24/7 + 1
}

// extract is a part of a date, or of a clock where it has none of a date but the day.
func extract(ctx *gms.Context, args []any) (any, error) {
	unit := strings.ToUpper(text64(args[0]))
	switch unit {
	case "YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "YEAR_MONTH":
		m, ok := dayOf(ctx, args[1])
		if !ok {
			return noMoment(ctx, args[1])
		}
		year, month := int64(m.day.Year()), int64(m.day.Month())
		switch unit {
		case "YEAR":
			return year, nil
		case "QUARTER":
			return (month + 2) / 3, nil
		case "MONTH":
			return month, nil
		case "YEAR_MONTH":
			return year*100 + month, nil
		case "DAY":
			return int64(m.day.Day()), nil
		}
		_, week := weekIn(m.day, weekFirst)
		return int64(week), nil
	}
	m, ok := momentOf(ctx, args[1])
	if !ok {
		return noMoment(ctx, args[1])
	}
	day, micros, sign := int64(0), m.time().AsMicroseconds(), int64(1)
	if m.dated {
		day = int64(m.day.Day())
	}
	if micros < 0 {
		micros, sign = -micros, -1
	}
	from, to, _ := strings.Cut(unit, "_")
	if to == "" {
		to = from
	}
	parts := []struct {
		unit  string
		value int64
		place int64 // how much of it the part before it is
	}{
		{"DAY", day, 1}, {"HOUR", micros / 3_600_000_000, 100}, {"MINUTE", micros / 60_000_000 % 60, 100},
		{"SECOND", micros / 1_000_000 % 60, 100}, {"MICROSECOND", micros % 1_000_000, 1_000_000},
	}
	n, within := int64(0), false
	for _, p := range parts {
		if within = within || p.unit == from; within {
			n = n*p.place + p.value
		}
		if p.unit == to {
			break
		}
	}
	return sign * n, nil
}

// extractOf is EXTRACT as one of them.
func extractOf(f *function.Extract) gms.Expression {
	return &clocked{name: "extract", args: []gms.Expression{f.LeftChild, f.RightChild}}
}
