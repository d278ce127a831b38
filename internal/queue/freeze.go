package queue

import "time"

// A process may be frozen for a while: it is stopped, or its machine is, or has no processor time or memory for it.
// When it goes on, leases have ended that nobody could extend, and messages that are done have claims that nobody could
// settle: what was said of them lies in sockets and in other goroutines. Such leases end a moment later.

const (
	// freeze is how late the store looks at the time when something kept it from that.
	freeze = 100 * time.Millisecond
	// regained is how much longer leases last that ended meanwhile.
	regained = 2 * time.Second
	// mostFreezes is how many that follow each other within that time give it anew: leases shall end also where there
	// is always another one.
	mostFreezes = 4
)

// lateness finds out that the store was frozen.
type lateness struct {
	off   bool      // the clock is not the machine's
	seen  time.Time // when it last looked at the time
	sleep time.Time // until when keepTime means to sleep; zero: it has been woken
}

// look takes a reading of the clock. It returns for how long nobody has looked at it who should have; 0: there was no
// freeze.
func (w *lateness) look(t time.Time) (froze time.Duration) {
	due := w.seen
	if w.sleep.After(due) {
		due = w.sleep
	}
	w.seen = t
	if late := t.Sub(due); !w.off && !due.IsZero() && late >= freeze {
		return late
	}
	return 0
}

// spare lets leases last longer that had not ended when the store last looked at the time, before a freeze that is
// over.
func (s *state) spare(last int64) {
	if last >= s.sparedTill {
		s.sparedFrom, s.freezes = last, 0
	}
	if s.freezes < mostFreezes {
		s.freezes++
		s.sparedTill = s.now + regained.Microseconds()
	}
}

// ended tells whether a claim's lease has ended.
func (s *state) ended(c *claimState) bool {
	now := s.now
	if now < s.sparedTill {
		now = s.sparedFrom
	}
	return c.deadline != 0 && c.deadline <= now
}
