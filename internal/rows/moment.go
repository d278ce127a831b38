package rows

import (
	"strings"
	"time"
)

// A clock is what a text says of a date and a time of day.
type clock struct {
	days         int64 // since 1970-01-01
	seconds      int64 // since midnight
	nanos        int32
	dated, timed bool
	zoned        bool
	offset       int64 // of the zone, in seconds east
}

const daySeconds = 24 * 60 * 60

// parseClock reads a date, a time of day, or both with a T or blanks between them, and a zone behind them (Z, +09:00,
// +0900, +09). The fraction of a second has up to nine digits that count; those behind them are left out.
func parseClock(s string) (c clock, ok bool) {
	if len(s) >= 10 && s[4] == '-' && s[7] == '-' {
		if c.days, ok = parseDay(s[:10]); !ok {
			return c, false
		}
		c.dated = true
		if s = s[10:]; s == "" {
			return c, true
		}
		switch {
		case s[0] == 'T' || s[0] == 't':
			s = s[1:]
		case s[0] == ' ':
			s = strings.TrimLeft(s, " ")
		default:
			return c, false
		}
	}
	if s, ok = c.parseTime(s); !ok {
		return c, false
	}
	c.timed = true
	if c.dated {
		s = strings.TrimLeft(s, " ")
	}
	return c, s == "" || c.dated && c.parseZone(s)
}

// parseDay reads 2006-01-02.
func parseDay(s string) (days int64, ok bool) {
	y, ok1 := twoDigits(s[:2])
	z, ok2 := twoDigits(s[2:4])
	m, ok3 := twoDigits(s[5:7])
	d, ok4 := twoDigits(s[8:10])
	if !ok1 || !ok2 || !ok3 || !ok4 || m < 1 || m > 12 || d < 1 {
		return 0, false
	}
	t := time.Date(int(y*100+z), time.Month(m), int(d), 0, 0, 0, 0, time.UTC)
	if t.Day() != int(d) {
		return 0, false
	}
	return t.Unix() / daySeconds, true // it is a multiple of it
}

func twoDigits(s string) (int64, bool) {
	if len(s) < 2 || s[0]-'0' > 9 || s[1]-'0' > 9 {
		return 0, false
	}
	return int64(s[0]-'0')*10 + int64(s[1]-'0'), true
}

// parseTime reads 15:04, 15:04:05 or 15:04:05.999999999 and returns what follows.
func (c *clock) parseTime(s string) (rest string, ok bool) {
	h, ok1 := twoDigits(s)
	if !ok1 || len(s) < 5 || s[2] != ':' {
		return s, false
	}
	m, ok2 := twoDigits(s[3:])
	if !ok2 || h > 23 || m > 59 {
		return s, false
	}
	c.seconds = h*3600 + m*60
	if s = s[5:]; s == "" || s[0] != ':' {
		return s, true
	}
	sec, ok3 := twoDigits(s[1:])
	if !ok3 || sec > 59 {
		return s, false
	}
	c.seconds += sec
	if s = s[3:]; s == "" || s[0] != '.' && s[0] != ',' {
		return s, true
	}
	s = s[1:]
	n := 0
	for ; n < len(s) && s[n]-'0' <= 9; n++ {
		if n < 9 {
			c.nanos = c.nanos*10 + int32(s[n]-'0')
		}
	}
	for k := n; k < 9; k++ {
		c.nanos *= 10
	}
	return s[n:], n > 0
}

// parseZone reads the offset of a zone.
func (c *clock) parseZone(s string) bool {
	c.zoned = true
	if s == "Z" || s == "z" {
		return true
	}
	if s[0] != '+' && s[0] != '-' {
		return false
	}
	h, ok := twoDigits(s[1:])
	if !ok || h > 23 {
		return false
	}
	c.offset = h * 3600
	if rest := strings.TrimPrefix(s[3:], ":"); rest != "" {
		m, ok := twoDigits(rest)
		if !ok || m > 59 || len(rest) != 2 {
			return false
		}
		c.offset += m * 60
	} else if len(s) > 3 {
		return false
	}
	if s[0] == '-' {
		c.offset = -c.offset
	}
	return true
}

// instant is what a clock of UTC shows then, in seconds since 1970. A text without a zone is of UTC.
func (c *clock) instant() int64 { return c.days*daySeconds + c.seconds - c.offset }

// cut leaves out the digits of a second's fraction that a column does not have.
func cut(nanos int32, digits int) int32 {
	unit := int32(1)
	for ; digits < 9; digits++ {
		unit *= 10
	}
	return nanos - nanos%unit
}
