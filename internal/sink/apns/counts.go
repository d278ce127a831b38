package apns

import "github.com/hikyaku/hikyaku/internal/push/figure"

// countDead is the name in Counts of messages that were not sent because their device was known to be gone.
const countDead = "device gone"

// Counts tells how often APNs gave each of its reasons, how many answers were lost ("answer lost"), and how many
// messages were for devices known to be gone ("device gone").
func (s *Sink) Counts() map[string]uint64 { return s.counts.All() }

// Figures are for the metrics.
func (s *Sink) Figures() figure.Figures {
	f := figure.Figures{Refused: s.counts.All(), Dead: s.dead.Len(), Resting: s.devices.Resting(s.clock())}
	if !s.ready.Load() {
		return f
	}
	for _, l := range s.lines {
		f.Add(l.client.Stats())
	}
	f.Apps = map[string]figure.App{}
	for name, a := range s.apps {
		app := figure.App{Paused: a.pause.why() != nil || a.watches.why() != nil}
		if a.key != nil {
			app.TokenAge = a.key.Age()
		}
		f.Apps[name] = app
	}
	return f
}
