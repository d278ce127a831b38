package command

import (
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/play"
)

// The errors of ParseMoment.
var (
	ErrMoment = errors.New("not a moment: write 20:15:00 or 2006-01-02T20:15:00.5+09:00")
	ErrNoAt   = errors.New("a lead needs a moment that it comes before")
)

// ParseMoment reads what --at and --lead say. at is a time of day as 20:15, 20:15:00 or 20:15:00.250, which is the next
// time that a clock in now's place shows it, or a moment as RFC 3339 writes them.
func ParseMoment(at string, lead time.Duration, now time.Time) (time.Time, error) {
	if at == "" {
		if lead != 0 {
			return time.Time{}, ErrNoAt
		}
		return time.Time{}, nil
	}
	if lead < 0 || lead > play.MostLead {
		return time.Time{}, fmt.Errorf("a lead of %s is not from 0 to %s", lead, play.MostLead)
	}
	if t, err := time.Parse(time.RFC3339Nano, at); err == nil {
		return t, nil
	}
	for _, layout := range []string{"15:04", "15:04:05"} { // a fraction of a second is read without being asked for
		t, err := time.Parse(layout, at)
		if err != nil {
			continue
		}
		on := func(days int) time.Time {
			return time.Date(now.Year(), now.Month(), now.Day()+days, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(),
				now.Location())
		}
		if today := on(0); today.After(now) {
			return today, nil
		}
		return on(1), nil
	}
	return time.Time{}, fmt.Errorf("%q is %w", at, ErrMoment)
}
