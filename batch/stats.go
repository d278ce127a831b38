package batch

// Stats are running totals since New, and what there is at the moment. Groups is the sum of the reasons.
type Stats struct {
	Groups  uint64 // groups that left
	Items   uint64 // items in them
	Failed  uint64 // items whose result was an error
	Largest int    // items of the largest group

	// Why groups left. A full group counts as Count or Bytes whatever else was true.
	Ready uint64 // a handler was free
	Count uint64 // it had as many items as it may, or as many as may wait
	Bytes uint64 // it had as many bytes as it may, or as many as may wait
	Delay uint64 // its oldest item had waited long enough
	Flush uint64 // somebody called Flush
	Close uint64 // the grouper was closed

	Waiting      int // items in no group yet
	WaitingBytes int // their bytes
	Blocked      int // calls that wait for room
	Busy         int // groups being handled
}

// reason says why a group leaves.
type reason uint8

const (
	stays reason = iota
	ready
	count
	bytes
	delay
	flush
	closing
)

// Stats returns a snapshot.
func (g *Grouper[T]) Stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.stats
	s.Waiting, s.WaitingBytes, s.Blocked, s.Busy = g.queue.n, g.queued, g.blocked.n, len(g.busy)
	return s
}

func (s *Stats) left(why reason, items int) {
	s.Groups++
	s.Items += uint64(items)
	s.Largest = max(s.Largest, items)
	switch why {
	case ready:
		s.Ready++
	case count:
		s.Count++
	case bytes:
		s.Bytes++
	case delay:
		s.Delay++
	case flush:
		s.Flush++
	case closing:
		s.Close++
	}
}
