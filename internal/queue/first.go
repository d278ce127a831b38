package queue

import (
	"context"
	"fmt"
)

// First shows the oldest message that a claim from there would get now, without claiming it, and without body and large
// column values; ok is false when there is none. It finds it as a claim does, by indexes, so that it costs the same in
// a queue of a thousand messages and of ten million; the first look with a condition of a shape makes them, in pieces.
// It makes no queue: ErrNotFound.
func (s *Store) First(ctx context.Context, from From) (p Peeked, ok bool, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return p, false, err
		}
		e, q, done, ask, err := s.first(from)
		if err != nil {
			return p, false, err
		}
		if !done { // a large queue is looked through in pieces, with everybody else in between
			if err := s.goOn(ctx, ask); err != nil {
				return p, false, err
			}
			continue
		}
		if q == nil {
			return p, false, nil
		}
		found, err := s.read(ctx, []Peeked{e.shown}, []stored{e.stored}, true)
		if err != nil || len(found) == 0 {
			return p, false, err
		}
		return found[0], true, nil
	}
}

// firstFound is what is known of a message without reading it.
type firstFound struct {
	shown  Peeked
	stored stored
}

// first looks once. done is false while an index is still being made, with what is to be asked for it; q is nil when
// there is no message.
func (s *Store) first(from From) (e firstFound, q *queueState, done bool, ask *questions, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q, err = s.queueOf(from.Queue); err != nil {
		return e, nil, false, nil, err
	}
	if from.Where != nil {
		if err := from.Where.Check(q.known, q.candidates()); err != nil {
			return e, nil, false, nil, fmt.Errorf("%w: queue %s: %w", ErrCondition, q.name.Short(), err)
		}
	}
	s.catchUp()
	ws := []wanted{{q: q, where: from.Where}}
	if err := gather(ws); err != nil {
		return e, nil, false, nil, err
	}
	if done, ask := s.state.buildFor(ws, 1); !done {
		return e, nil, false, ask, nil
	}
	oldest := ws[0].find.oldest(s.state, q)
	if oldest == none {
		return e, nil, !ws[0].find.more(), nil, nil
	}
	return firstFound{s.state.peeked(q, oldest, Ready), q.stored(oldest)}, q, true, nil, nil
}
