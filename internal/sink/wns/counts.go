package wns

import "github.com/hikyaku/hikyaku/internal/push/figure"

// countDead is the name in Counts of messages that were not sent because their channel was known to be gone.
const countDead = "channel gone"

// Counts tells how often WNS gave each answer that takes nothing ("answer 410", "dropped"), how many answers were lost
// ("answer lost"), and how many messages were for channels known to be gone ("channel gone").
func (s *Sink) Counts() map[string]uint64 { return s.counts.All() }

// Figures are for the metrics. Hosts of WNS are no apps: only those of the configuration are told apart.
func (s *Sink) Figures() figure.Figures {
	now := s.clock()
	f := figure.Figures{Refused: s.counts.All(), Dead: s.dead.Len(), Resting: s.devices.Resting(now)}
	if !s.ready.Load() {
		return f
	}
	s.pool.Figures(&f, now)
	f.Apps = map[string]figure.App{}
	for name, a := range s.apps {
		f.Apps[name] = a.Figure(now)
	}
	return f
}
