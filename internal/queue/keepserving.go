package queue

import "runtime"

// keepServing reads the bodies that conditions of waiting claims ask for, and hands the messages over.
func (s *Store) keepServing() {
	defer s.ending.Done()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.aside:
		}
		for s.ctx.Err() == nil && s.serveMore() {
			runtime.Gosched() // whoever waits for the lock gets it before the next piece
		}
	}
}

// serveMore goes on with what could not be served at once, a piece at a time, and tells whether more is left.
func (s *Store) serveMore() (more bool) {
	s.mu.Lock()
	if len(s.state.offerings) == 0 {
		s.mu.Unlock()
		return s.serveAside()
	}
	s.state.look(s.clock())
	s.state.beginPiece()
	more = s.state.offerPiece()
	s.state.endPiece()
	s.settleUp()
	aside := len(s.state.unserved) > 0
	s.mu.Unlock()
	if aside { // they may be of queues that have nothing to do with it
		return s.serveAside() || more
	}
	return more
}

// serveAside reads some of the bodies that are asked for, without the lock, and serves those messages. It tells whether
// others are left.
func (s *Store) serveAside() (more bool) {
	s.mu.Lock()
	xs := s.state.asideUnread()
	s.settleUp()
	s.mu.Unlock()
	if len(xs) > 0 && s.readBodies(s.ctx, xs, func(*looked) {}) != nil {
		return false // the store is being closed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.look(s.clock())
	more = s.state.serveRead(xs)
	s.settleUp()
	return more
}
