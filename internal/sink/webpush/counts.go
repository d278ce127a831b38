package webpush

// countDead is the name in Counts of messages that were not sent because their subscription was known to be gone.
const countDead = "subscription gone"

// Counts tells how often push services gave each answer that takes nothing ("answer 410"), how many answers were lost ("answer lost"), and how many
// messages were for subscriptions known to be gone ("subscription gone").
func (s *Sink) Counts() map[string]uint64 { return s.counts.All() }
