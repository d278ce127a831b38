package mysql

import (
	"strings"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// STR_TO_DATE. go-mysql-server's own knows no halves of the day, no fractions and no weeks, and makes another day of
// one that there is not.

// What the letters of a format stand for, of which the others are those of a day.
const (
	ofClock = "fHISThiklprs"
	ofNone  = ".@#%"
)

// ofFormat is the type of what a format reads: where it does not stand in the statement, a date with a clock.
func ofFormat(_ *gms.Context, args []gms.Expression) gms.Type {
	l, ok := args[1].(*expression.Literal)
	if !ok {
		return types.DatetimeMaxPrecision
	}
	day, clock, fraction := partsOf(text64(l.Value()))
	switch {
	case day && clock && fraction:
		return types.DatetimeMaxPrecision
	case day && clock:
		return types.MustCreateDatetimeType(sqltypes.Datetime, 0)
	case clock:
		return types.Time
	}
	return types.Date
}

// partsOf tells what a format reads.
func partsOf(format string) (day, clock, fraction bool) {
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		switch {
		case strings.IndexByte(ofClock, format[i]) >= 0:
			clock, fraction = true, fraction || format[i] == 'f'
		case strings.IndexByte(ofNone, format[i]) < 0:
			day = true
		}
	}
	return day, clock, fraction
}

func strToDate(ctx *gms.Context, args []any) (any, error) {
	text, format := text64(args[0]), text64(args[1])
	text, format = text[:min(len(text), longestDate)], format[:min(len(format), longestDate)]
	r := dateReader{rest: text, week: -1, weekYear: -1}
	day, clock, _ := partsOf(format)
	ok := r.read(format) && r.half() && (clock && !day || r.date())
	if !ok || r.hour > 23 || r.minute > 59 || r.second > 59 {
		ctx.Warn(1411, "Incorrect datetime value: '%.64s' for function str_to_date", text)
		return nil, nil
	}
	if strings.TrimLeft(r.rest, " \t\r\n\v\f") != "" {
		ctx.Warn(erTruncated, "Truncated incorrect datetime value: '%.64s'", text)
	}
	if clock && !day {
		return types.Timespan(int64((r.hour*60+r.minute)*60+r.second)*1_000_000 + int64(r.micros)), nil
	}
	return time.Date(r.year, time.Month(r.month), r.day, r.hour, r.minute, r.second, r.micros*1000, time.UTC), nil
}

// dateReader reads a date by a format.
type dateReader struct {
	rest                                           string
	year, month, day, hour, minute, second, micros int
	yearDay, weekday, week, weekYear               int // weekday: 1 to 7, from Monday; week and its year: -1, none
	sundays, strict, yearSundays, twelve, after    bool
}

// number reads so many digits at most.
func (r *dateReader) number(most int, into *int) bool {
	n := 0
	*into = 0
	for ; n < most && isDigit(r.rest, n); n++ {
		*into = *into*10 + int(r.rest[n]-'0')
	}
	r.rest = r.rest[n:]
	return n > 0
}

// name reads one of some names, as far as so many letters if there are fewer than of the name. It is counted from 1.
func (r *dateReader) name(into *int, count, letters int, of func(i int) string) bool {
	for i := 1; i <= count; i++ {
		name := of(i)
		if letters > 0 {
			name = name[:letters]
		}
		if len(r.rest) >= len(name) && strings.EqualFold(r.rest[:len(name)], name) {
			r.rest, *into = r.rest[len(name):], i
			return true
		}
	}
	return false
}

func monthName(i int) string   { return time.Month(i).String() }
func weekdayName(i int) string { return time.Weekday(i % 7).String() }

// read reads what a format says, as far as the text goes. false: the text is of another form.
func (r *dateReader) read(format string) bool {
	for i := 0; i < len(format); i++ {
		r.rest = strings.TrimLeft(r.rest, " \t\r\n\v\f")
		if r.rest == "" {
			break
		}
		switch {
		case format[i] == '%' && i+1 < len(format):
			i++
			if !r.part(format[i]) {
				return false
			}
		case isSpace(format, i):
		case r.rest[0] != format[i]:
			return false
		default:
			r.rest = r.rest[1:]
		}
	}
	return true
}

// part reads what a letter stands for.
func (r *dateReader) part(letter byte) bool {
	before := len(r.rest)
	switch letter {
	case 'Y':
		ok := r.number(4, &r.year)
		if before-len(r.rest) <= 2 {
			r.year = century(r.year)
		}
		return ok
	case 'y':
		ok := r.number(2, &r.year)
		r.year = century(r.year)
		return ok
	case 'm', 'c':
		return r.number(2, &r.month)
	case 'M':
		return r.name(&r.month, 12, 0, monthName)
	case 'b':
		return r.name(&r.month, 12, 3, monthName)
	case 'd', 'e':
		return r.number(2, &r.day)
	case 'D':
		ok := r.number(2, &r.day)
		r.rest = r.rest[min(2, len(r.rest)):]
		return ok
	case 'h', 'I', 'l':
		r.twelve = true
		return r.number(2, &r.hour)
	case 'H', 'k':
		return r.number(2, &r.hour)
	case 'i':
		return r.number(2, &r.minute)
	case 's', 'S':
		return r.number(2, &r.second)
	case 'f':
		ok := r.number(6, &r.micros)
		for n := before - len(r.rest); n < 6; n++ {
			r.micros *= 10
		}
		return ok
	case 'p':
		half := 0
		ok := r.twelve && r.name(&half, 2, 0, func(i int) string { return []string{"AM", "PM"}[i-1] })
		r.after = half == 2
		return ok
	case 'W':
		return r.name(&r.weekday, 7, 0, weekdayName)
	case 'a':
		return r.name(&r.weekday, 7, 3, weekdayName)
	case 'w':
		ok := r.number(1, &r.weekday) && r.weekday < 7
		if r.weekday == 0 {
			r.weekday = 7
		}
		return ok
	case 'j':
		return r.number(3, &r.yearDay)
	case 'U', 'u', 'V', 'v':
		r.sundays, r.strict = letter == 'U' || letter == 'V', letter == 'V' || letter == 'v'
		return r.number(2, &r.week) && r.week <= 53 && (r.week > 0 || !r.strict)
	case 'X', 'x':
		r.yearSundays = letter == 'X'
		return r.number(4, &r.weekYear)
	case 'r':
		return r.read("%I:%i:%S %p")
	case 'T':
		return r.read("%H:%i:%S")
	case '.':
		r.rest = strings.TrimLeftFunc(r.rest, func(c rune) bool { return c < 0x80 && isMark(string(c), 0) })
		return true
	case '@':
		r.rest = strings.TrimLeftFunc(r.rest, func(c rune) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' })
		return true
	case '#':
		r.rest = strings.TrimLeft(r.rest, "0123456789")
		return true
	}
	return false
}

// half makes an hour of a day of one of twelve.
func (r *dateReader) half() bool {
	if !r.twelve {
		return true
	}
	ok := r.hour >= 1 && r.hour <= 12
	if r.hour %= 12; r.after {
		r.hour += 12
	}
	return ok
}

// date finds the day, which may be one of a year or of a week. false: there is none.
func (r *dateReader) date() bool {
	first := func(year int) time.Time { return time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC) }
	set := func(t time.Time) { r.year, r.month, r.day = t.Year(), int(t.Month()), t.Day() }
	if r.yearDay > 0 {
		set(first(r.year).AddDate(0, 0, r.yearDay-1))
	}
	if r.week >= 0 && r.weekday > 0 {
		if r.strict != (r.weekYear >= 0) || r.strict && r.yearSundays != r.sundays {
			return false
		}
		year := r.year
		if r.strict {
			year = r.weekYear
		}
		begin := first(year)
		of, days := int(begin.Weekday()), r.weekday%7
		late := of != 0
		if !r.sundays {
			of, days = (of+6)%7, r.weekday-1
			late = of > 3
		}
		if late {
			days += 7
		}
		set(begin.AddDate(0, 0, days-of+(r.week-1)*7))
	}
	t := time.Date(r.year, time.Month(r.month), r.day, 0, 0, 0, 0, time.UTC)
	return r.year >= 1 && r.year <= 9999 && r.month >= 1 && r.month <= 12 && t.Day() == r.day
}
