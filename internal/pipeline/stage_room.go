package pipeline

import "time"

// push gives the stage parts and waits for room. Parts pushed by one goroutine keep their order. After the end of the
// stage they are given back.
func (s *stage) push(parts ...*part) {
	for len(parts) > 0 {
		s.mu.Lock()
		if s.ended {
			s.mu.Unlock()
			for _, q := range parts {
				q.lose(s.node)
			}
			return
		}
		n := 0
		for n < len(parts) && s.blocked.n == 0 && s.fits(parts[n].size) {
			s.admit(parts[n])
			n++
		}
		if n == len(parts) {
			s.came()
			s.mu.Unlock()
			return
		}
		a := &arrival{parts[n], make(chan struct{})}
		s.blocked.push(a)
		s.kick()
		s.mu.Unlock()
		<-a.admitted
		parts = parts[n+1:]
	}
}

// force is push that does not wait. It is for parts that are bounded elsewhere.
func (s *stage) force(q *part) {
	s.mu.Lock()
	ended := s.ended
	if !ended {
		s.admit(q)
		s.came()
	}
	s.mu.Unlock()
	if ended {
		q.lose(s.node)
	}
}

func (s *stage) fits(size int) bool {
	return s.held == 0 || s.held < s.roomN && s.heldBytes+size <= s.roomB
}

func (s *stage) admit(q *part) {
	if s.delay > 0 {
		q.entered = time.Now()
	}
	s.held++
	s.heldBytes += q.size
	s.fresh.push(q)
	s.waiting += q.size
}

// leave makes room of so many parts that are no longer the stage's, and their bytes.
func (s *stage) leave(n, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held -= n
	s.heldBytes -= bytes
	s.left += uint64(n)
	s.admitBlocked()
	s.kick()
}

func (s *stage) admitBlocked() {
	for s.blocked.n > 0 && s.fits(s.blocked.front().part.size) {
		a := s.blocked.pop()
		s.admit(a.part)
		close(a.admitted)
	}
}

// sleep puts a part of a group aside until it is due.
func (s *stage) sleep(q *part, due time.Time) {
	s.mu.Lock()
	if s.ended || !s.sleepBy.IsZero() && due.After(s.sleepBy) {
		s.held--
		s.heldBytes -= q.size
		s.admitBlocked()
		s.mu.Unlock()
		q.lose(s.node)
		return
	}
	s.sleepers.add(q, due)
	s.arm(time.Now())
	s.mu.Unlock()
}

// split asks again for each half of a group by itself, before anything else.
func (s *stage) split(parts []*part) {
	s.mu.Lock()
	if s.ended {
		s.forget(parts)
		s.mu.Unlock()
		for _, q := range parts {
			q.lose(s.node)
		}
		return
	}
	defer s.mu.Unlock()
	middle := len(parts) / 2
	older := s.halves
	s.halves = line[[]*part]{}
	s.halves.push(parts[:middle])
	s.halves.push(parts[middle:])
	for older.n > 0 {
		s.halves.push(older.pop())
	}
}
