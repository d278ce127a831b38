package mysql

import (
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql/types"
)

// How MySQL reads a date or a time in a text: the fields that stand there, and nothing behind them.

// readDate is a date in a text.
type readDate struct {
	day    time.Time
	spaced bool // a space or a T parts its day from its clock
	packed bool // it is of digits alone
	cut    bool // more stands behind it
	none   bool // the fields are there, and there is no such day or clock
}

// The places of the fields of a date.
const (
	fieldDay      = 2
	fieldSecond   = 5
	fieldFraction = 6
	allFields     = 7
)

func isDigit(text string, i int) bool { return i < len(text) && '0' <= text[i] && text[i] <= '9' }

func isSpace(text string, i int) bool {
	return i < len(text) && strings.IndexByte(" \t\n\v\f\r", text[i]) >= 0
}

// isMark tells of what stands between fields.
func isMark(text string, i int) bool {
	return i < len(text) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", text[i]) >= 0
}

// readDay reads a date, with a clock or without one. false: the text is of another form.
func readDay(text string) (d readDate, ok bool) {
	text = strings.Trim(text, " \t\n\v\f\r")
	digits := 0
	for isDigit(text, digits) || digits < len(text) && text[digits] == 'T' {
		digits++
	}
	d.packed = digits == len(text) || text[digits] == '.'
	width := 2
	if digits == 4 || digits == 8 || digits >= 14 {
		width = 4
	}
	var values, lengths [allFields]int
	i, at, field := 0, 0, 0
	for ; field < allFields && isDigit(text, at); field++ {
		start, most := at, width
		if !d.packed && field != fieldFraction {
			most = len(text)
		}
		for ; isDigit(text, at) && at-start < most; at++ {
			if values[field] = values[field]*10 + int(text[at]-'0'); values[field] > 999_999 {
				return d, false
			}
		}
		lengths[field], width, i = at-start, 2, at
		switch {
		case field == fieldDay && at < len(text) && text[at] == 'T':
			at++
			d.spaced = true
			continue
		case field == fieldSecond && at < len(text) && text[at] == '.':
			at++
			width, i = 6, at
			continue
		case field == fieldSecond || field == fieldFraction:
			field++
		default:
			for isMark(text, at) || isSpace(text, at) {
				if isSpace(text, at) {
					if field != fieldDay {
						return d, false
					}
					d.spaced = true
				}
				at++
			}
			i = at
			continue
		}
		break
	}
	if field <= fieldDay || values[0]+values[1]+values[2] == 0 {
		return d, false
	}
	year := values[0]
	if lengths[0] == 2 {
		year = century(year)
	}
	micros := values[fieldFraction]
	for n := lengths[fieldFraction]; n < 6; n++ {
		micros *= 10
	}
	if lengths[fieldFraction] == 6 && isDigit(text, i) {
		if text[i] >= '5' {
			micros++
		}
		for isDigit(text, i) {
			i++
		}
	}
	d.cut = i < len(text)
	month, day := values[1], values[fieldDay]
	d.day = time.Date(year, time.Month(month), day, values[3], values[4], values[fieldSecond], 0, time.UTC)
	d.none = year > 9999 || month < 1 || month > 12 || d.day.Day() != day || values[3] > 23 || values[4] > 59 ||
		values[fieldSecond] > 59
	d.day = d.day.Add(time.Duration(micros) * time.Microsecond)
	return d, true
}

// shortestMoment is how long a text is that may be a day with a clock where a time is read.
const shortestMoment = len("20260102T030") // MySQL's own number

// readClock reads a time: [-][D ]H:M:S.F, of which what is left out is 0, or HHMMSS.F. cut tells that more stands
// behind it. A long text may be a date with a clock. false: there is none.
func readClock(text string) (m moment, cut, ok bool) {
	text = strings.Trim(text, " \t\n\v\f\r")
	rest, negative := strings.CutPrefix(text, "-")
	if len(rest) >= shortestMoment {
		if d, ok := readDay(rest); ok && (d.spaced || d.packed) {
			return moment{day: d.day, dated: true}, d.cut, !d.none
		}
	}
	at, count := 0, 0
	number := func() (n int64) {
		start := at
		for ; isDigit(rest, at); at++ {
			n = min(n*10+int64(rest[at]-'0'), 1e12)
		}
		count = at - start
		return n
	}
	first := number()
	if count == 0 && (at >= len(rest) || rest[at] != '.') {
		return m, false, false
	}
	var hours, minutes, seconds int64
	clock := false
	if end := at; isSpace(rest, at) {
		for isSpace(rest, at) {
			at++
		}
		if clock = isDigit(rest, at); clock {
			hours = min(first, 1e6)*24 + min(number(), 1e6)
		} else {
			at = end
		}
	} else if at+1 < len(rest) && rest[at] == ':' && isDigit(rest, at+1) {
		hours, clock = first, true
	}
	switch {
	case clock:
		for _, part := range []*int64{&minutes, &seconds} {
			if at+1 < len(rest) && rest[at] == ':' && isDigit(rest, at+1) {
				at++
				*part = number()
			}
		}
	default:
		hours, minutes, seconds = first/10_000, first/100%100, first%100
	}
	if minutes > 59 || seconds > 59 {
		return m, false, false
	}
	var micros int64
	if at < len(rest) && rest[at] == '.' {
		at++
		fraction := rest[at:]
		number()
		fraction = fraction[:count]
		for i := range 6 {
			micros *= 10
			if i < len(fraction) {
				micros += int64(fraction[i] - '0')
			}
		}
		if len(fraction) > 6 && fraction[6] >= '5' {
			micros++
		}
	}
	span := types.Timespan(((min(hours, 10_000)*60+minutes)*60+seconds)*1_000_000 + micros)
	if negative {
		span = -span
	}
	return moment{clock: span}, at < len(rest), true
}
