package journey

import (
	"cmp"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Journey is where a message has been.
type Journey struct {
	ID    message.ID
	Steps []Step // by time
	// LeftOut steps are not remembered, since there were too many: they were behind the eighth.
	LeftOut int
	// Late says that the journey is remembered from some step on, at which it was found to be worth it. Of what was
	// before there are only the times of the main steps.
	Late bool
}

// Find returns what is remembered of a message.
func (s *Store) Find(id message.ID) (j Journey, ok bool) {
	if s == nil {
		return j, false
	}
	p := s.part(&id)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.entries[id]
	if e == nil || e.last < s.clock().UnixNano()-p.keep {
		return j, false
	}
	return p.journey(e), true
}

func (p *part) journey(e *entry) Journey {
	j := Journey{ID: e.id, LeftOut: int(e.leftOut), Late: e.late, Steps: make([]Step, len(e.steps))}
	for i := range e.steps {
		st := &e.steps[i]
		j.Steps[i] = Step{Kind: st.kind, Time: time.Unix(0, st.at), Place: p.places[st.place],
			By: p.places[st.by].Name, Attempt: int(st.attempt), For: st.lasts, Text: st.text}
	}
	return j
}

// Slow is one of the slowest.
type Slow struct {
	ID message.ID
	// Took is, at a step of a pipeline, its longest request; else the time from its first step to its last or, while it
	// has not ended, until now.
	Took  time.Duration
	Ended bool // it is not in its queue any more
	at    int64
}

// Slowest returns the journeys that took longest, the longest first, of those with a step at a place (zero: anywhere)
// that did something in the last so long. visible is asked of each, in that order, until so many are found; nil: all
// are.
func (s *Store) Slowest(at Place, last time.Duration, most int, visible func(*Journey) bool) (slow []Slow) {
	if s == nil {
		return nil
	}
	now := s.clock().UnixNano()
	since := now - int64(min(last, s.keep))
	var all []Slow
	for i := range s.parts {
		p := &s.parts[i]
		p.mu.Lock()
		place, known := p.names[at]
		for l := range 2 {
			for e := [...]*line{&p.ordinary, &p.worth}[l].first; known && e != nil; e = e.next {
				if x, ok := e.slow(place, at.IsStep() && at.Name != "", now); ok && x.at >= since {
					all = append(all, x)
				}
			}
		}
		p.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b Slow) int {
		return cmp.Or(cmp.Compare(b.Took, a.Took), slices.Compare(a.ID[:], b.ID[:]))
	})
	for i := range all {
		if len(slow) == most {
			break
		}
		if j, ok := s.Find(all[i].ID); ok && (visible == nil || visible(&j)) {
			slow = append(slow, all[i])
		}
	}
	return slow
}

// slow tells how long a journey took at a place; 0 is anywhere. ok is false when it has not been there.
func (e *entry) slow(place uint16, request bool, now int64) (x Slow, ok bool) {
	x.ID = e.id
	var first, last int64
	for i := range e.steps {
		st := &e.steps[i]
		if place != 0 && st.place != place {
			continue
		}
		if request {
			if st.kind == Answered {
				x.Took, x.at, x.Ended, ok = max(x.Took, st.lasts), max(x.at, st.at), true, true
			}
			continue
		}
		if !ok {
			first, ok = st.at, true
		}
		switch {
		case st.kind.ends():
			x.Ended = true
		case st.kind == Accepted || st.kind == Replayed:
			x.Ended = false
		}
		last = st.at
	}
	if request || !ok {
		return x, ok
	}
	if !x.Ended {
		last = now
	}
	x.Took, x.at = time.Duration(max(0, last-first)), last
	return x, true
}

// Stats tell what a Store remembers.
type Stats struct {
	Journeys int
	Worth    int   // of them, those that failed or were slow
	Bytes    int64 // about what they take
	Most     int64 // what they take at most
	Keep     time.Duration
	Every    int    // of so many new messages one is remembered whatever becomes of it
	Gone     uint64 // that failed or were slow and were forgotten before their time, for want of room
}

// Stats tells what the Store remembers.
func (s *Store) Stats() (t Stats) {
	if s == nil {
		return t
	}
	t.Keep, t.Every = s.keep, int(s.sampler.rate())
	for i := range s.parts {
		p := &s.parts[i]
		p.mu.Lock()
		t.Journeys += len(p.entries)
		t.Worth += p.worth.n
		t.Bytes += p.ordinary.bytes + p.worth.bytes
		t.Most += p.most
		t.Gone += p.gone
		p.mu.Unlock()
	}
	return t
}
