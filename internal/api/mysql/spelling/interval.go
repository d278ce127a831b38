package spelling

import (
	"fmt"
	"strconv"
	"strings"
)

// A composite is a unit of an interval that has several numbers.
type composite struct {
	parts []int64 // what each number is, in those of unit
	unit  string
	micro bool // the last number is a fraction of a second
}

const (
	second = 1
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
	micros = 1_000_000
)

var composites = map[string]composite{
	"year_month":         {[]int64{12, 1}, "MONTH", false},
	"day_hour":           {[]int64{day, hour}, "SECOND", false},
	"day_minute":         {[]int64{day, hour, minute}, "SECOND", false},
	"day_second":         {[]int64{day, hour, minute, second}, "SECOND", false},
	"hour_minute":        {[]int64{hour, minute}, "SECOND", false},
	"hour_second":        {[]int64{hour, minute, second}, "SECOND", false},
	"minute_second":      {[]int64{minute, second}, "SECOND", false},
	"day_microsecond":    {[]int64{day * micros, hour * micros, minute * micros, micros, 1}, "MICROSECOND", true},
	"hour_microsecond":   {[]int64{hour * micros, minute * micros, micros, 1}, "MICROSECOND", true},
	"minute_microsecond": {[]int64{minute * micros, micros, 1}, "MICROSECOND", true},
	"second_microsecond": {[]int64{micros, 1}, "MICROSECOND", true},
}

// interval looks behind INTERVAL: a literal, and a unit with several numbers.
func (w *writer) interval() {
	ahead := w.scanner
	value := ahead.next()
	text := value.text(w)
	switch value.kind {
	case quoted:
		text = strings.Trim(text, text[:1])
	case word: // 1 HOUR_MINUTE
	default:
		return
	}
	name := ahead.next()
	if name.kind != word {
		return
	}
	c, ok := composites[strings.ToLower(name.text(w))]
	if !ok {
		return
	}
	if n, ok := c.count(text); ok {
		w.replace(value.at, name.end, fmt.Sprintf("%d %s", n, c.unit))
		w.scanner = ahead
	}
}

// count is how many of its units a text has. MySQL takes numbers with anything between them, and where there are too
// few, they are the last ones.
func (c composite) count(text string) (n int64, ok bool) {
	text = strings.TrimSpace(text)
	text, negative := strings.CutPrefix(text, "-")
	numbers := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" :-./,", r) })
	if len(numbers) == 0 || len(numbers) > len(c.parts) {
		return 0, false
	}
	parts := c.parts[len(c.parts)-len(numbers):]
	for i, number := range numbers {
		if c.micro && i == len(numbers)-1 && len(number) < 6 { // a fraction: .5 is 500,000
			number += strings.Repeat("0", 6-len(number))
		}
		v, err := strconv.ParseInt(number, 10, 32)
		if err != nil || v < 0 {
			return 0, false
		}
		n += v * parts[i] // of at most 31 bits and 37
	}
	if negative {
		n = -n
	}
	return n, true
}
