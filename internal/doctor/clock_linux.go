package doctor

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// synchronized asks the kernel whether something keeps the clock right.
func synchronized() []Finding {
	var t unix.Timex
	if _, err := unix.ClockAdjtime(unix.CLOCK_REALTIME, &t); err != nil {
		return []Finding{Ok("clock", "the kernel does not say whether it is synchronized: %v", err)}
	}
	return kept(t.Status&unix.STA_UNSYNC == 0, time.Duration(t.Maxerror)*time.Microsecond)
}

// kept judges whether the clock is kept right, and how far off it may be at most.
func kept(synchronized bool, most time.Duration) []Finding {
	if !synchronized {
		return []Finding{{"clock", Warn, "the kernel knows of nothing that synchronizes it", "it drifts, and may be " +
			"stepped; " +
			"leases, delays and expiries go by it", "run chrony or systemd-timesyncd (in a container: on the machine)"}}
	}
	if most > aside {
		return []Finding{{"clock", Warn, fmt.Sprintf("it is synchronized, and may be off by %v",
			most.Round(time.Millisecond)),
			"leases, delays and expiries go by it", "look at what chronyc tracking or timedatectl says"}}
	}
	return []Finding{Ok("clock", "it is synchronized, to %v at most", most.Round(time.Millisecond))}
}
