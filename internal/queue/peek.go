package queue

import (
	"context"
)

// Peek shows messages, the oldest first, and claims none. The last one says whether there may be more behind it. A long
// queue is looked through in pieces, with everybody else in between: each message is shown as it was when its piece
// was; those put since the call are not.
func (s *Store) Peek(ctx context.Context, n Name, r PeekRequest) ([]Peeked, error) {
	if r.Max <= 0 {
		r.Max = 100
	}
	w, err := s.beginWalk(n, r.Where)
	if err != nil {
		return nil, err
	}
	for {
		w.next, w.seen = r.After+1, nil
		p, err := s.page(ctx, w, &r)
		if err != nil {
			return nil, err
		}
		if r.Hold != nil && len(p.found) > 0 && !r.NoBody {
			if err := r.Hold(ctx, p.room, p.largest); err != nil {
				return nil, err
			}
		}
		found, err := s.read(ctx, p.found, p.parts, r.NoBody)
		switch {
		case err != nil:
			return nil, err
		case len(found) > 0:
			found[len(found)-1].More = p.more
			return found, nil
		case !p.more:
			return nil, nil
		}
		r.After = p.last // all of them were settled before they could be read
	}
}

// peekPage is what a Peek found, before its bodies are read.
type peekPage struct {
	found         []Peeked
	parts         []stored
	sum           int64 // of the sizes
	room, largest int64 // that is taken when they are read: of all, and of one
	last          uint64
	more          bool
}

// page looks for the messages of a Peek.
func (s *Store) page(ctx context.Context, w *walk, r *PeekRequest) (p peekPage, err error) {
	for !w.over() {
		var piece []peekedAt
		most := r.Max - len(p.found)
		if r.Where == nil {
			piece, err = s.peekAll(ctx, w, r, most)
		} else {
			piece, err = s.peekSome(ctx, w, r, most)
		}
		if err != nil {
			return p, err
		}
		for i := range piece {
			if !p.add(&piece[i], r) {
				return p, nil
			}
		}
	}
	return p, nil
}

// add shows one more message, and tells whether there is room for another one.
func (p *peekPage) add(x *peekedAt, r *PeekRequest) bool {
	if p.more = r.Bytes > 0 && len(p.found) > 0 && !r.NoBody && p.sum+x.size > int64(r.Bytes); p.more {
		return false
	}
	room := roomFor(x.size, x.stored.head)
	p.sum, p.room, p.largest, p.last = p.sum+x.size, p.room+room, max(p.largest, room), x.shown.Sequence
	p.found, p.parts = append(p.found, x.shown), append(p.parts, x.stored)
	p.more = len(p.found) >= r.Max
	return !p.more
}

// peekAll returns the next messages, at most so many.
func (s *Store) peekAll(ctx context.Context, w *walk, r *PeekRequest, most int) (piece []peekedAt, err error) {
	if err := s.enterWalk(ctx, w); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	s.catchUp()
	return s.state.peekAll(w, r.Ready, most), nil
}

// peekSome returns those of the next messages that meet the condition, at most so many.
func (s *Store) peekSome(ctx context.Context, w *walk, r *PeekRequest, most int) (piece []peekedAt, err error) {
	err = s.lookOn(ctx, w, func(e entry) bool { return !r.Ready || s.state.stateOf(w.q, e) == Ready })
	if err != nil {
		return nil, err
	}
	met, err := s.askNext(ctx, w, most)
	if err != nil || len(met) == 0 {
		return nil, err
	}
	if err := s.enterWalk(ctx, w); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	s.catchUp()
	return s.state.peekMet(w, met, r.Ready), nil
}
