package measure

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration writes d with three significant digits in the unit that suits it: "443 ns", "12.3 ms", "1.50 s"; from a
// minute on in minutes, hours or days: "2m05s", "3h04m", "2d03h".
func Duration(d time.Duration) string {
	if d < 0 {
		if d == math.MinInt64 {
			d++ // its opposite does not exist
		}
		return "-" + Duration(-d)
	}
	switch {
	case d == 0:
		return "0 s"
	case d < time.Microsecond:
		return strconv.FormatInt(int64(d), 10) + " ns"
	case d < 999500*time.Nanosecond:
		return significant(float64(d)/1e3) + " µs"
	case d < 999500*time.Microsecond:
		return significant(float64(d)/1e6) + " ms"
	case d < 59950*time.Millisecond:
		return significant(float64(d)/1e9) + " s"
	}
	s := int64(d.Round(time.Second) / time.Second)
	switch {
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 24*3600:
		return fmt.Sprintf("%dh%02dm", s/3600, s%3600/60)
	}
	return fmt.Sprintf("%dd%02dh", s/86400, s%86400/3600)
}

// Bytes writes n in binary units with three significant digits: "512 B", "1.50 KiB", "96.0 MiB".
func Bytes(n int64) string {
	if n > -1024 && n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	f := float64(n)
	for _, unit := range []string{"KiB", "MiB", "GiB", "TiB", "PiB"} {
		f /= 1024
		if math.Abs(f) < 1023.5 {
			return significant(f) + " " + unit
		}
	}
	return significant(f/1024) + " EiB"
}

// Count writes n with separators: "1,234,567".
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	return sign + separate(s)
}

// Rate writes how many there are a second: "3,300/s", "12.5/s".
func Rate(perSecond float64) string { return Number(perSecond) + "/s" }

// Number writes f with three significant digits or, from 100 on, as a whole number with separators.
func Number(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "-"
	case f == 0:
		return "0"
	case math.Abs(f) < 99.95:
		return significant(f)
	case math.Abs(f) < 1e15:
		return Count(int64(math.Round(f)))
	}
	return strconv.FormatFloat(f, 'g', 3, 64)
}

// significant writes f with three significant digits, and all digits before the point.
func significant(f float64) string {
	a := math.Abs(f)
	decimals := 0
	switch {
	case a == 0 || a >= 99.95:
	case a >= 9.995:
		decimals = 1
	case a >= 0.9995:
		decimals = 2
	case a >= 1e-6:
		decimals = 2 - int(math.Floor(math.Log10(a)))
	default:
		return strconv.FormatFloat(f, 'g', 3, 64)
	}
	return strconv.FormatFloat(f, 'f', decimals, 64)
}

func separate(digits string) string {
	if len(digits) <= 3 {
		return digits
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
