package queue

// eligible tells whether a reader that holds nothing could claim e now.
func (s *state) eligible(q *queueState, e entry) bool {
	switch x := e.extra(); {
	case x.claim != nil, x.wake > s.now:
		return false
	case x.group != nil:
		return x.group.head == e
	}
	return true
}

// changed looks at e again after something that may have made it claimable.
func (s *state) changed(q *queueState, e entry) {
	if s.folding {
		return
	}
	if g := e.group(); g != nil {
		s.regroup(q, g)
		if e.claim() == nil && g.head != e {
			s.noticed(q, e) // its key's holder may take it
		}
		return
	}
	if s.eligible(q, e) {
		s.show(q, e)
	}
}

// regroup finds again which message of a key is the ready one, and what its holder may take next.
func (s *state) regroup(q *queueState, g *keyGroup) {
	if s.folding {
		return
	}
	if head := g.first(0, s.now); head != g.head {
		if g.head != none {
			s.hide(q, g.head)
		}
		if g.head = head; head != none {
			s.show(q, head)
		}
	}
	g.inherit(s.now)
}

// freed tells the holder of a key that waits, if there is one, that something in front of what it may take next is
// gone.
func (s *state) freed(q *queueState, g *keyGroup) {
	if s.folding || g.head != none || q.waiting.Len() == 0 {
		return
	}
	if e := g.foremost(s.now); e != none {
		s.noticed(q, e)
	}
}

// show adds e to what can be claimed.
func (s *state) show(q *queueState, e entry) {
	if !q.ready.Add(e.seq()) {
		return
	}
	for _, v := range q.views {
		if v.progress().covers(e.seq()) {
			v.show(s.env(q, e), e)
		}
	}
	s.noticed(q, e)
}

// hide takes e out of what can be claimed.
func (s *state) hide(q *queueState, e entry) {
	if !q.ready.Delete(e.seq()) {
		return
	}
	for _, v := range q.views {
		if v.progress().covers(e.seq()) {
			v.hide(s.env(q, e), e)
		}
	}
	if g := e.group(); g != nil && g.head == e {
		g.head = none
	}
}

func (s *state) noticed(q *queueState, e entry) {
	if q.waiting.Len() > 0 && !q.gone {
		s.fresh[q] = append(s.fresh[q], e)
	}
}
