package pipeline

import (
	"time"

	"github.com/hikyaku/hikyaku/pace"
)

// pacer says when requests may begin. The zero value lets everything pass. It is used under its stage's lock.
type pacer struct{ schedule pace.Schedule }

// newPacer makes the pacer of a rate limit, whose requests are never closer than it allows, so that no window of
// RateDuration sees more than RateNum of them; or that of a pace, which is kept over any time: a timer that was late
// delays nothing that follows. Neither catches up in a burst.
func newPacer(r Request) pacer {
	if !r.Pace.IsZero() {
		return pacer{pace.NewSchedule(r.Pace, pace.Shift)}
	}
	if r.RateNum <= 0 {
		return pacer{}
	}
	rate, err := pace.Every(min(int64(r.RateNum), int64(r.RateDuration)), r.RateDuration)
	if err != nil { // only without a duration, which has a default
		return pacer{}
	}
	return pacer{pace.NewSchedule(rate, pace.Strict)}
}

// next is the earliest time for another request; zero: any.
func (p *pacer) next() time.Time {
	_, due := p.schedule.Next()
	return due
}

// took notes that a request began.
func (p *pacer) took(now time.Time) { p.schedule.Take(now) }
