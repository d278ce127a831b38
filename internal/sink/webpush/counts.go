package webpush

import (
	"github.com/hikyaku/hikyaku/internal/push/figure"
)

// countDead is the name in Counts of messages that were not sent because their subscription was known to be gone.
const countDead = "subscription gone"

// Counts tells how often push services gave each answer that takes nothing ("answer 410"), how many answers were lost
// ("answer lost"), and how many messages were for subscriptions known to be gone ("subscription gone").
func (s *Sink) Counts() map[string]uint64 { return s.counts.All() }

// Figures are for the metrics.
func (s *Sink) Figures() figure.Figures {
	now := s.clock()
	f := figure.Figures{Refused: s.counts.All(), Dead: s.dead.Len(), Resting: s.devices.Resting(now)}
	if s.ready.Load() {
		s.pool.Figures(&f, now)
		for origin, app := range f.Apps {
			app.TokenAge = s.tokens.Age(origin)
			f.Apps[origin] = app
		}
		for origin := range s.watches.why() {
			app := f.Apps[origin]
			app.Paused = true
			f.Apps[origin] = app
		}
	}
	return f
}
