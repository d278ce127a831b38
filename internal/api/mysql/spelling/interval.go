package spelling

import (
	"strconv"
	"strings"
)

// A composite is a unit of an interval that has several numbers.
type composite struct {
	parts []int64 // what each number is, in those of unit
	unit  string
}

const (
	second = 1
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
	micros = 1_000_000
)

// longest is how many of a unit all years have that there are.
var longest = map[string]int64{
	"MONTH": 10_000 * 12, "SECOND": 10_000 * 366 * day, "MICROSECOND": 10_000 * 366 * day * micros,
}

var composites = map[string]composite{
	"year_month":         {[]int64{12, 1}, "MONTH"},
	"day_hour":           {[]int64{day, hour}, "SECOND"},
	"day_minute":         {[]int64{day, hour, minute}, "SECOND"},
	"day_second":         {[]int64{day, hour, minute, second}, "SECOND"},
	"hour_minute":        {[]int64{hour, minute}, "SECOND"},
	"hour_second":        {[]int64{hour, minute, second}, "SECOND"},
	"minute_second":      {[]int64{minute, second}, "SECOND"},
	"day_microsecond":    {[]int64{day * micros, hour * micros, minute * micros, micros, 1}, "MICROSECOND"},
	"hour_microsecond":   {[]int64{hour * micros, minute * micros, micros, 1}, "MICROSECOND"},
	"minute_microsecond": {[]int64{minute * micros, micros, 1}, "MICROSECOND"},
	"second_microsecond": {[]int64{micros, 1}, "MICROSECOND"},
}

// interval looks behind INTERVAL: a literal, and a unit with several numbers.
func (w *writer) interval() {
	ahead := w.scanner
	first := ahead.next()
	text, ok := ahead.literal(first)
	if !ok {
		return
	}
	name := ahead.next()
	c, ok := composites[strings.ToLower(name.text(w))]
	if !ok || name.kind != word {
		return
	}
	count := "NULL"
	if n, ok := c.count(text); ok {
		count = strconv.FormatInt(n, 10)
	}
	w.replace(first.at, name.end, count+" "+c.unit)
	w.scanner = ahead
}

// literal is the text of a literal that begins with a token, and passes it: of a text, a number or NULL.
func (s *scanner) literal(first token) (text string, ok bool) {
	text = s.text[first.at:first.end]
	if first.kind == quoted {
		return strings.Trim(text, text[:1]), true
	}
	if strings.EqualFold(text, "null") {
		return text, true
	}
	number := first
	if text == "-" || text == "+" {
		number = s.next()
	}
	if number.kind != word || !isNumber(s.text[number.at:number.end]) {
		return "", false
	}
	if strings.HasPrefix(s.text[s.at:], ".") {
		s.next()
		if fraction := s.next(); fraction.kind != word || !isNumber(s.text[fraction.at:fraction.end]) {
			return "", false
		}
	}
	return s.text[first.at:s.at], true
}

func isNumber(text string) bool { return strings.Trim(text, "0123456789") == "" }

// count is how many of its units a text has, as MySQL reads it: whatever stands between numbers parts them, and where
// there are too few, they are the last ones. ok is false where it comes to NULL: of too many numbers, or of more than
// there are years.
func (c composite) count(text string) (n int64, ok bool) {
	text = strings.TrimSpace(text)
	negative := strings.HasPrefix(text, "-")
	numbers := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if len(numbers) > len(c.parts) || strings.EqualFold(text, "null") {
		return 0, false
	}
	parts, most := c.parts[len(c.parts)-len(numbers):], longest[c.unit]
	for i, number := range numbers {
		if c.unit == "MICROSECOND" && i == len(numbers)-1 && len(number) < 6 { // a fraction: .5 is 500,000
			number += strings.Repeat("0", 6-len(number))
		}
		v, err := strconv.ParseInt(number, 10, 64)
		if err != nil || v > most/parts[i] {
			return 0, false
		}
		n += v * parts[i]
	}
	if negative {
		n = -n
	}
	return n, max(n, -n) <= most
}
