package queue

// lane is a line of offerings one of which goes on after the other, because they have messages of the same queues.
// Lanes take turns: many readers of one queue do not hold up those of others.
type lane struct {
	first, last *offering
	into        *lane // not nil: this one is empty, and its offerings went there
}

// found is where the offerings of a lane are now.
func (l *lane) found() *lane {
	for l.into != nil {
		if l.into.into != nil {
			l.into = l.into.into
		}
		l = l.into
	}
	return l
}

// add puts offerings that follow each other behind those of the lane.
func (l *lane) add(first, last *offering) {
	if l.first == nil {
		l.first = first
	} else {
		l.last.after = first
	}
	l.last = last
}

// inLane tells whether an offering has to go behind others.
func (o *offering) inLane() bool {
	for q := range o.fresh {
		if q.waiting.offers > 0 {
			return true
		}
	}
	return false
}

// lineUp puts an offering behind those that have messages of its queues. Lanes that were apart until now become one.
func (s *state) lineUp(o *offering) {
	var l *lane
	for q := range o.fresh {
		switch m := q.waiting.lane; {
		case m == nil:
		case l == nil:
			l = m.found()
		case m.found() != l:
			m = m.found()
			l.add(m.first, m.last)
			*m = lane{into: l}
		}
	}
	if l == nil {
		l = new(lane)
		s.offerings = append(s.offerings, l)
	}
	l.add(o, o)
	o.lined = true
	for q := range o.fresh {
		q.waiting.offers++
		q.waiting.lane = l
	}
}

// offered is called when an offering with messages of the queue ends, or has no more of them.
func (ws *waiting) offered() {
	if ws.offers--; ws.offers == 0 {
		ws.lane = nil
	}
}

// offerPiece goes on with the first offering of the lane whose turn it is, and tells whether there is more to do.
func (s *state) offerPiece() (more bool) {
	if len(s.offerings) == 0 {
		return false
	}
	l := s.offerings[0]
	s.offerings[0] = nil
	s.offerings = s.offerings[1:]
	if o := l.first; o != nil {
		s.known = o.known
		if !s.offerOn(o) {
			l.first = o.after
			for q := range o.fresh {
				q.waiting.offered()
			}
		}
		s.known = nil
	}
	if l.first != nil {
		s.offerings = append(s.offerings, l)
	}
	return len(s.offerings) > 0
}
