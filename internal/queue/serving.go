package queue

// keepServing reads the bodies that conditions of waiting claims ask for, and hands the messages over.
func (s *Store) keepServing() {
	defer s.ending.Done()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.aside:
		}
		for s.ctx.Err() == nil && s.serveAside() {
		}
	}
}

// serveAside reads some of the bodies that are asked for, without the lock, and serves again. It tells whether others
// are left.
func (s *Store) serveAside() (more bool) {
	s.mu.Lock()
	xs := s.state.asideUnread()
	s.mu.Unlock()
	if len(xs) > 0 && s.readBodies(s.ctx, xs, func(*looked) {}) != nil {
		return false // the store is being closed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state
	st.known = make(map[entry]*looked, len(xs))
	for _, x := range xs {
		st.known[x.entry] = x
	}
	for q, es := range st.unserved {
		st.fresh[q] = append(st.fresh[q], es...)
	}
	clear(st.unserved)
	st.serve()
	st.known = nil
	more = len(st.unserved) > 0
	s.settleUp()
	return more
}

// asideUnread are the first of the messages that were set aside, as many as are read at once.
func (s *state) asideUnread() (xs []*looked) {
	room := room{}
	for q, es := range s.unserved {
		for _, e := range es {
			if !e.there() || e.claim() != nil {
				continue
			}
			x := q.look(e)
			if xs = append(xs, &x); room.full(x.size) {
				return xs
			}
		}
	}
	return xs
}
