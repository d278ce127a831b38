package queue

import (
	"cmp"
	"context"
	"time"

	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
)

// What is told of where messages have been is told here: behind the work, without the lock, and by who did the work.

// place is a queue or topic for those who trace messages.
func place(n Name) journey.Place { return journey.Place{Namespace: n.Namespace, Name: n.Name} }

// tells tells whether anybody is told what happens.
func (s *Store) tells() bool { return s.trace != nil || s.taps.On() }

// traces tells whether it is told what happens in a queue.
func (s *Store) traces(n Name) bool { return s.tells() && (s.untraced == nil || !s.untraced(n)) }

// noteOf is what is known of a message whose claim ends, or goes on.
func noteOf(o *observed, kind journey.Kind, now int64, by string) journey.Note {
	at := place(o.name)
	return journey.Note{ID: o.id, Kind: kind, Time: now, Place: at, By: by, Attempt: int(o.attempt), From: at,
		Hops: &o.hops}
}

// tellChange tells of a change that is durable.
func (s *Store) tellChange(ctx context.Context, c *Change, out *launched) {
	now, by := s.clock().UnixNano(), journey.Who(ctx)
	results := out.results
	for i := range c.Puts {
		p := &c.Puts[i]
		to := s.Resolve(p.To)
		if s.traces(to) {
			for j := range p.Messages {
				s.tellPut(&p.Messages[j], &results[j], place(to), by, now)
			}
		}
		results = results[len(p.Messages):]
	}
	for i := range out.seen {
		o := &out.seen[i]
		if !s.traces(o.name) {
			continue
		}
		switch o.kind {
		case Done:
			took := time.Duration(max(0, now-o.hops[message.Accepted]))
			n := noteOf(o, journey.Done, now, by)
			s.taps.Tell(&n, nil)
			if o.attempt > 1 {
				s.trace.Keep(&n)
			} else {
				s.trace.End(&n, took)
			}
			s.trace.Spans().Left(&n)
		case Back:
			n := noteOf(o, journey.Back, now, by)
			n.For = c.Settles[o.at].Delay
			s.taps.Tell(&n, nil)
			s.trace.Keep(&n)
			s.trace.Spans().Left(&n)
		case Dead:
			n := noteOf(o, journey.Dead, now, cmp.Or(c.Settles[o.at].Step, by))
			n.Text = c.Settles[o.at].Reason
			s.taps.Tell(&n, nil)
			s.trace.Keep(&n)
			s.trace.Spans().Left(&n)
		}
	}
}

// tellPut tells of a message that is durable in a queue or topic. A dead letter is one more step of its journey.
func (s *Store) tellPut(m *message.Message, r *PutResult, to journey.Place, by string, now int64) {
	n := journey.Note{ID: r.ID, Kind: journey.Accepted, Time: m.Hops[message.Accepted], Place: to, By: by}
	switch {
	case r.Unheard:
		return
	case r.Duplicate:
		n.Kind, n.Time = journey.Duplicate, now
		s.taps.Tell(&n, m)
		s.trace.Add(&n)
		return
	case m.Death != nil:
		n.Kind, n.Time, n.By, n.Text = journey.Dead, now, m.Death.Step, m.Death.Reason
		n.Attempt = m.Death.Attempts
		if from, err := ParseName(m.Death.Queue); err == nil {
			n.From, n.Hops = place(from), &m.Hops
		}
		s.taps.Tell(&n, m)
		s.trace.Keep(&n)
		return
	}
	if n.Time == 0 {
		n.Time = now
	}
	s.taps.Tell(&n, m)
	s.trace.Begin(&n)
	s.trace.Add(&journey.Note{ID: r.ID, Kind: journey.Durable, Time: now, Place: to})
	s.trace.Spans().Put(m, r.ID, to, by, now)
}

// tellClaims tells of messages that were handed out. One that was handed out before is worth remembering.
func (s *Store) tellClaims(ctx context.Context, r *ClaimRequest, claims []Claim) {
	if len(claims) == 0 || !s.tells() {
		return
	}
	by := journey.Who(ctx)
	if o := r.owner(); o != nil {
		by = cmp.Or(o.name, by)
	}
	for i := range claims {
		c := &claims[i]
		if !s.traces(c.Queue) {
			continue
		}
		at := place(c.Queue)
		n := journey.Note{ID: c.Message.ID, Kind: journey.Claimed, Time: c.Message.Hops[message.Claimed], Place: at,
			By: by, Attempt: c.Attempt, From: at, Hops: &c.Message.Hops}
		if !c.Deadline.IsZero() {
			n.For = time.Duration(max(0, c.Deadline.UnixNano()-n.Time))
		}
		s.taps.Tell(&n, &c.Message)
		if c.Attempt > 1 {
			s.trace.Keep(&n)
		} else {
			s.trace.Add(&n)
		}
		s.trace.Spans().Claimed(&c.Message, at, by, c.Attempt)
	}
}

// tellExtended tells of claims whose leases end so long from now.
func (s *Store) tellExtended(ctx context.Context, seen []observed, lease time.Duration) {
	if len(seen) == 0 {
		return
	}
	now, by := s.clock().UnixNano(), journey.Who(ctx)
	for i := range seen {
		if s.traces(seen[i].name) {
			n := noteOf(&seen[i], journey.Extended, now, by)
			n.For = lease
			s.trace.Add(&n)
		}
	}
}

// tellLapses tells of claims whose leases have ended.
func (s *Store) tellLapses(seen []observed) {
	for i := range seen {
		if s.traces(seen[i].name) {
			n := noteOf(&seen[i], journey.Lapsed, seen[i].time*1000, "")
			s.taps.Tell(&n, nil)
			s.trace.Keep(&n)
			s.trace.Spans().Left(&n)
		}
	}
}

// tellBuried tells of messages that the Store itself has made dead letters of.
func (s *Store) tellBuried(letters []*deadLetter) {
	if !s.tells() {
		return
	}
	now := s.clock().UnixNano()
	for _, d := range letters {
		for i := range d.copies {
			m := &d.copies[i].message
			if m.Death == nil {
				continue
			}
			from, err := ParseName(m.Death.Queue)
			if err != nil || !s.traces(from) {
				continue
			}
			n := journey.Note{ID: m.ID, Kind: journey.Dead, Time: now, Place: place(from),
				Attempt: m.Death.Attempts, Text: m.Death.Reason, From: place(from), Hops: &m.Hops}
			s.taps.Tell(&n, nil)
			s.trace.Keep(&n)
			break
		}
	}
}

// seen is what there is to tell of messages that are about to be removed; nil when nobody wants to know.
func (s *Store) seen(ds []doomed) (seen []observed) {
	if s.trace == nil {
		return nil
	}
	seen = make([]observed, 0, len(ds))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range ds {
		if d.there() {
			seen = append(seen, observedOf(d.q, d.e))
		}
	}
	return seen
}

// tellExpired tells of messages that nobody took in time.
func (s *Store) tellExpired(seen []observed) {
	if len(seen) == 0 {
		return
	}
	now := s.clock().UnixNano()
	for i := range seen {
		if s.traces(seen[i].name) {
			n := noteOf(&seen[i], journey.Expired, now, "")
			s.taps.Tell(&n, nil)
			s.trace.Keep(&n)
		}
	}
}

// tellReplayed tells of dead letters that were sent again from then on: somebody may have them by now.
func (s *Store) tellReplayed(ctx context.Context, c *Change, began time.Time) {
	if s.trace == nil {
		return
	}
	at, by := began.UnixNano(), journey.Who(ctx)
	for i := range c.Puts {
		if to := s.Resolve(c.Puts[i].To); s.traces(to) {
			for j := range c.Puts[i].Messages {
				s.trace.Keep(&journey.Note{ID: c.Puts[i].Messages[j].ID, Kind: journey.Replayed, Time: at,
					Place: place(to), By: by})
			}
		}
	}
}
