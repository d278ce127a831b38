package hms

import "github.com/hikyaku/hikyaku/internal/push/figure"

// countDead is the name in Counts of messages that were not sent because their device was known to be gone.
const countDead = "device gone"

// Counts tells how often Push Kit gave each of its codes, how many answers were lost ("answer lost"), and how many
// messages were for devices known to be gone ("device gone").
func (s *Sink) Counts() map[string]uint64 { return s.counts.All() }

// Figures are for the metrics.
func (s *Sink) Figures() figure.Figures {
	now := s.clock()
	f := figure.Figures{Refused: s.counts.All(), Dead: s.dead.Len()}
	if !s.ready.Load() {
		return f
	}
	for _, c := range s.clients {
		f.Add(c.Stats())
	}
	f.Apps = map[string]figure.App{}
	for name, a := range s.apps {
		f.Apps[name] = a.Figure(now)
	}
	return f
}
