package apns

// countDead is the name in Counts of messages that were not sent because their device was known to be gone.
const countDead = "device gone"

// Counts tells how often APNs gave each of its reasons, how many answers were lost ("answer lost"), and how many messages were for devices known to
// be gone ("device gone").
func (s *Sink) Counts() map[string]uint64 { return s.counts.All() }
