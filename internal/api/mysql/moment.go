package mysql

import (
	"time"

	"github.com/cockroachdb/apd/v3"
	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// moment is what functions take for a date or a time: a day with its clock, or a clock alone.
type moment struct {
	day   time.Time      // zero where there is none
	clock types.Timespan // without a day: microseconds, which may be negative
	dated bool
}

// longestTime is MySQL's last TIME.
const longestTime = types.Timespan((838*3600 + 59*60 + 59) * 1_000_000)

// momentOf reads a value as MySQL does. ok is false for what is neither a date nor a time.
func momentOf(ctx *gms.Context, v any) (m moment, ok bool) {
	switch v := v.(type) {
	case time.Time:
		return moment{day: v, dated: true}, true
	case types.Timespan:
		return moment{clock: v}, true
	case []byte:
		return momentOfText(ctx, string(v))
	case string:
		return momentOfText(ctx, v)
	}
	if d, ok := v.(*apd.Decimal); ok {
		return momentOfText(ctx, d.Text('f')) // a clock of a number rounds
	}
	if m, ok := clockOf(v); ok {
		return m, true
	}
	return dayOf(ctx, v) // 20260102030405
}

func momentOfText(ctx *gms.Context, text string) (moment, bool) {
	m, cut, ok := readClock(text[:min(len(text), longestDate)])
	if cut {
		_, _ = noMoment(ctx, text)
	}
	if !m.dated {
		m.clock = within(ctx, m.clock)
	}
	return m, ok
}

func dayOf(ctx *gms.Context, v any) (moment, bool) {
	switch v.(type) {
	case time.Time:
		day, err := types.DatetimeMaxPrecision.ConvertWithoutRangeCheck(ctx, v)
		return moment{day: day, dated: true}, err == nil && !day.Equal(types.ZeroTime) && day.Year() >= 0
	case types.Timespan, float32, float64:
		return moment{}, false
	}
	text := text64(v)
	d, ok := readDay(text[:min(len(text), longestDate)])
	if ok && d.cut && !d.none {
		ctx.Warn(erTruncated, "Truncated incorrect datetime value: '%.64s'", text)
	}
	return moment{day: d.day, dated: true}, ok && !d.none
}

func clockOf(v any) (moment, bool) {
	span, err := types.Time.ConvertToTimespan(v)
	return moment{clock: span}, err == nil
}

// time is the clock of a moment.
func (m moment) time() types.Timespan {
	if !m.dated {
		return m.clock
	}
	hour, minute, second := m.day.Clock()
	return types.Timespan(int64(hour*3600+minute*60+second)*1_000_000 + int64(m.day.Nanosecond()/1000))
}

// add is the moment so much later. A clock stays in what a TIME can be.
func (m moment) add(ctx *gms.Context, span types.Timespan) moment {
	if m.dated {
		return moment{day: m.day.Add(time.Duration(span) * time.Microsecond), dated: true}
	}
	return moment{clock: within(ctx, m.clock+span)}
}

// possible tells whether MySQL has the moment: no year has more than four digits.
func (m moment) possible() bool { return !m.dated || m.day.Year() >= 0 && m.day.Year() <= 9999 }

// within is a time that is no longer than MySQL's.
func within(ctx *gms.Context, span types.Timespan) types.Timespan {
	short := max(-longestTime, min(longestTime, span))
	if short != span {
		ctx.Warn(1292, "Truncated incorrect time value: it is beyond 838:59:59")
	}
	return short
}

// text is how MySQL writes a moment: with a fraction of six digits, or none.
func (m moment) text() string {
	switch {
	case !m.dated:
		return m.clock.String()
	case m.day.Nanosecond() == 0:
		return m.day.Format(time.DateTime)
	}
	return m.day.Format(time.DateTime + ".000000")
}

// timeDiff is the time between two dates, or between two times.
func timeDiff(ctx *gms.Context, args []any) (any, error) {
	a, ok := momentOf(ctx, args[0])
	if !ok {
		return noMoment(ctx, args[0])
	}
	b, ok := momentOf(ctx, args[1])
	if !ok {
		return noMoment(ctx, args[1])
	}
	switch {
	case a.dated != b.dated:
		return nil, nil
	case a.dated:
		return within(ctx, types.Timespan(a.day.Sub(b.day).Microseconds())), nil
	}
	return within(ctx, a.clock-b.clock), nil
}
