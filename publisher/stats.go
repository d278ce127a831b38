package publisher

import "time"

// Stats are running totals since the first Publish, and what there is at the moment.
type Stats struct {
	Requests int64 // groups that left, retries not counted
	Messages int64 // in them
	Largest  int   // messages of the largest group
	Blocked  int64 // calls of Publish that waited for room

	Waiting     int           // messages in no request yet
	InFlight    int           // requests in flight
	MostFlying  int           // the most there were at once
	Outstanding int           // messages that count for flow control
	RoundTrip   time.Duration // the shortest of late; 0: not known yet
	Width       int           // requests that a steady stream has in flight
	Keys        int           // ordering keys with something outstanding, or paused
}

func (s *Stats) took(g *group, requests int) {
	s.Requests++
	s.Messages += int64(g.count)
	s.Largest = max(s.Largest, g.count)
	s.MostFlying = max(s.MostFlying, requests)
}

func (d *dispatcher) snapshot() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.stats
	s.Waiting = d.unkeyed.count
	for _, l := range d.keys {
		s.Waiting += l.count
	}
	s.InFlight, s.Outstanding, s.Keys = d.requests, d.outstanding, len(d.keys)
	s.RoundTrip, s.Width = d.window.roundTrip(), d.window.width()
	return s
}
