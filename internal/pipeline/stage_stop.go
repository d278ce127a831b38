package pipeline

import "time"

// flush lets groups leave without waiting for company: nothing more comes from the sources.
func (s *stage) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flushing = true
	s.kick()
}

// press looks again at a group that waits for company: the pipeline is full.
func (s *stage) press() {
	if s.delay == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kick()
}

// lastTries is how long after a stop a try may still begin that had to wait: what waits longer is in nobody's hands,
// and can as well be given back at once.
const lastTries = time.Second

// stop prepares for the end: what is worked on may take until by, and what would sleep beyond lastTries is given back.
func (s *stage) stop(by time.Time) {
	s.mu.Lock()
	s.stopBy, s.flushing = by, true
	if s.sleepBy = time.Now().Add(lastTries); by.Before(s.sleepBy) {
		s.sleepBy = by
	}
	late := s.sleepers.after(s.sleepBy)
	s.forget(late)
	s.admitBlocked()
	s.kick()
	s.mu.Unlock()
	for _, q := range late {
		q.lose(s.node)
	}
}

// end gives back everything that is not being worked on, and everything that comes after.
func (s *stage) end() {
	s.mu.Lock()
	s.ended = true
	s.over.Store(true)
	var left []*part
	for s.halves.n > 0 {
		left = append(left, s.halves.pop()...)
	}
	for s.again.n > 0 {
		left = append(left, s.again.pop())
	}
	for s.fresh.n > 0 {
		left = append(left, s.fresh.pop())
	}
	left = append(left, s.sleepers.after(time.Time{})...)
	left = append(left, s.abandon()...)
	s.forget(left)
	s.waiting = 0
	var arrivals []*arrival
	for s.blocked.n > 0 {
		arrivals = append(arrivals, s.blocked.pop())
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	s.mu.Unlock()
	for _, q := range left {
		q.lose(s.node)
	}
	for _, a := range arrivals {
		a.part.lose(s.node)
		close(a.admitted)
	}
}

// forget counts parts out.
func (s *stage) forget(parts []*part) {
	for _, q := range parts {
		s.held--
		s.heldBytes -= q.size
	}
}

// fill reports what the stage holds.
func (s *stage) fill(st *NodeStats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.InFlight, st.Busy, st.Limit = s.held, s.busy, s.limiter.limit()
	st.Sleeping = s.sleepers.len()
	st.Waiting = s.again.n + s.fresh.n
	for i := range s.halves.n {
		st.Waiting += len(s.halves.at(i))
	}
}
