package doctor

import (
	"fmt"
	"time"
)

// Clock is what a clock is compared with.
type Clock struct {
	Begun   time.Time // when looking began, as time.Now gave it
	Built   time.Time // when this program was built; zero: not known
	Written time.Time // the newest of the files of data_dir; zero: there are none
}

// aside is how far two clocks, or a clock and a file, may be apart.
const aside = 2 * time.Second

// Look judges the clock of now.
func (c Clock) Look(now time.Time) (found []Finding) {
	wall := now.Round(0)
	if !c.Built.IsZero() && wall.Before(c.Built) {
		found = append(found, Finding{"clock", Bad, fmt.Sprintf("it says %s, and this program was built at %s",
			stamp(wall), stamp(c.Built)), means, "set the clock, and let it be set by NTP"})
	}
	if ahead := c.Written.Sub(wall); !c.Written.IsZero() && ahead > aside {
		found = append(found, Finding{"clock", Bad, fmt.Sprintf("it says %s, and data_dir was written at %s",
			stamp(wall),
			stamp(c.Written)), means + ": hikyaku's time stands still until the clock is where it was",
			"set the clock, and let it be set by NTP"})
	}
	if by := wall.Sub(c.Begun.Round(0)) - now.Sub(c.Begun); by.Abs() > aside/20 {
		found = append(found, stepped(by))
	}
	if len(found) == 0 {
		found = append(found, Ok("clock", "%s", stamp(wall)))
	}
	return append(found, synchronized()...)
}

// means is what a wrong clock means.
const means = "leases, delays and expiries go by the clock"

// stepped says that the clock was set while it was looked at.
func stepped(by time.Duration) Finding {
	return Finding{"clock", Warn, fmt.Sprintf("it was set while it was looked at, by %v", by.Round(time.Millisecond)),
		means,
		"let NTP slew it, and not step"}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
