package queue

import (
	"context"
)

// First shows the oldest message that a claim from there would get now, without claiming it, and without body and large
// column values; ok is false when there is none. It finds it as a claim does, by indexes, so that it costs the same in
// a queue of a thousand messages and of ten million; the first look with a condition of a shape makes them, in pieces.
// It makes no queue: ErrNotFound.
func (s *Store) First(ctx context.Context, from From) (p Peeked, ok bool, err error) {
	planAll([]From{from})
	for {
		if err := ctx.Err(); err != nil {
			return p, false, err
		}
		f, there, done, ask, err := s.first(from)
		if err != nil {
			return p, false, err
		}
		if !done { // a large queue is looked through in pieces, with everybody else in between
			if err := s.goOn(ctx, ask); err != nil {
				return p, false, err
			}
			continue
		}
		if !there {
			return p, false, nil
		}
		found, err := s.read(ctx, []Peeked{f.shown}, []stored{f.stored}, true)
		if err != nil || len(found) == 0 {
			return p, false, err
		}
		return found[0], true, nil
	}
}

// first looks once: see state.first.
func (s *Store) first(from From) (f firstFound, there, done bool, ask *questions, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.queueOf(from.Queue)
	if err == nil {
		err = q.fits(from.Where)
	}
	if err != nil {
		return f, false, false, nil, err
	}
	s.catchUp()
	return s.state.first(q, from.Where)
}
