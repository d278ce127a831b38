package message

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxTimeOfDay is the longest time that a time column holds: MySQL's 838:59:59.
const maxTimeOfDay = 838*time.Hour + 59*time.Minute + 59*time.Second

// toTimeOfDay takes "HH:MM:SS", "HH:MM" (both perhaps negative, and with a fraction of a second), or an instant, of
// which it keeps the time of day.
func (c Column) toTimeOfDay(v Value) (Value, error) {
	var d time.Duration
	switch v.Kind() {
	case KindTime:
		t := v.AsTime()
		d = t.Sub(t.Truncate(24 * time.Hour))
	case KindString:
		var ok bool
		if d, ok = parseTimeOfDay(strings.Trim(v.AsString(), " ")); !ok {
			return Value{}, c.wrong(v)
		}
	default:
		return Value{}, c.wrong(v)
	}
	if d = d.Round(fraction(c.Length)); d > maxTimeOfDay || d < -maxTimeOfDay {
		return Value{}, c.outOfRange(v)
	}
	return String(formatTimeOfDay(d, c.Length)), nil
}

func parseTimeOfDay(s string) (time.Duration, bool) {
	s, negative := strings.CutPrefix(s, "-")
	s, decimals, _ := strings.Cut(s, ".")
	parts := strings.Split(s, ":")
	if len(parts) != 2 && len(parts) != 3 {
		return 0, false
	}
	var d time.Duration
	unit := time.Hour
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || len(p) > 3 || i > 0 && (n > 59 || len(p) > 2) {
			return 0, false
		}
		d += time.Duration(n) * unit
		unit /= 60
	}
	if decimals != "" {
		n, err := strconv.ParseUint((decimals + "000000000")[:9], 10, 64)
		if err != nil || len(decimals) > 9 {
			return 0, false
		}
		d += time.Duration(n)
	}
	if negative {
		d = -d
	}
	return d, true
}

// formatTimeOfDay writes hours with at least two digits and as many digits of a second as the column has.
func formatTimeOfDay(d time.Duration, digits int) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	s := fmt.Sprintf("%s%02d:%02d:%02d", sign, d/time.Hour, d/time.Minute%60, d/time.Second%60)
	if digits > 0 {
		s += "." + fmt.Sprintf("%09d", d%time.Second)[:digits]
	}
	return s
}
