package message

import (
	"fmt"
	"time"
)

// timeLayouts are the forms of an instant that people and programs send. Without an offset it is UTC. Go's parser
// accepts a fraction of a second after any of them.
var timeLayouts = [...]string{time.RFC3339, time.DateTime, "2006-01-02T15:04:05", time.DateOnly,
	"2006-01-02 15:04:05Z07:00"}

// ParseTime reads an instant: RFC 3339, "2006-01-02 15:04:05" (with or without a fraction; UTC) or a date alone
// (midnight UTC). The result is in UTC, cut to microseconds, and within the years 0 to 9999.
func ParseTime(s string) (time.Time, error) {
	// Most strings that are compared with a time are none: tell so before trying every layout.
	if len(s) >= len(time.DateOnly) && len(s) <= 40 && s[4] == '-' && s[7] == '-' {
		for _, layout := range timeLayouts {
			if t, err := time.Parse(layout, s); err == nil {
				t = time.UnixMicro(t.UnixMicro()).UTC()
				if t.Year() >= 0 && t.Year() <= 9999 {
					return t, nil
				}
			}
		}
	}
	return time.Time{}, fmt.Errorf("%q is no date or time: write it as 2006-01-02T15:04:05Z or 2006-01-02 15:04:05",
		shorten(s))
}
