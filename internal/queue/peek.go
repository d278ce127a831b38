package queue

import (
	"context"
	"fmt"
	"runtime"

	"github.com/hikyaku/hikyaku/internal/condition"
)

// Peek shows messages, the oldest first, and claims none. The last one says whether there may be more behind it. A long queue is looked through in
// pieces, with everybody else in between: each message is shown as it was when it was looked at; those put since the call are not.
func (s *Store) Peek(ctx context.Context, n Name, r PeekRequest) ([]Peeked, error) {
	if r.Max <= 0 {
		r.Max = 100
	}
	w, err := s.beginWalk(n, r.Where)
	if err != nil {
		return nil, err
	}
	for {
		w.next = r.After + 1
		p, err := s.page(ctx, w, &r)
		if err != nil {
			return nil, err
		}
		if r.Hold != nil && len(p.found) > 0 && !r.NoBody {
			if err := r.Hold(ctx, p.sum, p.largest); err != nil {
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
	found        []Peeked
	parts        []stored
	sum, largest int64 // of the sizes
	last         uint64
	more         bool
}

// page looks for the messages of a Peek.
func (s *Store) page(ctx context.Context, w *walk, r *PeekRequest) (p peekPage, err error) {
	for w.next != 0 {
		piece, err := s.peekSome(ctx, w, r, r.Max-len(p.found))
		if err != nil {
			return p, err
		}
		for i := range piece {
			if x := &piece[i]; x.meets && !p.add(x, r) {
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
	p.sum, p.largest, p.last = p.sum+x.size, max(p.largest, x.size), x.shown.Sequence
	p.found, p.parts = append(p.found, x.shown), append(p.parts, x.stored)
	p.more = len(p.found) >= r.Max
	return !p.more
}

// peekedAt is a message that may be shown.
type peekedAt struct {
	looked
	shown Peeked
	size  int64
}

// peekSome looks at the next messages and returns at most so many that may be shown: those that meet the condition.
func (s *Store) peekSome(ctx context.Context, w *walk, r *PeekRequest, most int) (piece []peekedAt, err error) {
	if err := s.enterWalk(ctx, w); err != nil {
		return nil, err
	}
	s.catchUp()
	asks := room{}
	w.step(func(e entry) bool {
		st := s.state.stateOf(w.q, e)
		if r.Ready && st != Ready {
			return true
		}
		meets, unread := s.state.ask(w.q, e, r.Where)
		if meets || unread {
			x := peekedAt{w.q.look(e), s.state.peeked(w.q, e, st), e.size()}
			x.meets, x.asks = meets, unread
			piece = append(piece, x)
		}
		return len(piece) < most && !(unread && asks.full(e))
	})
	s.mu.Unlock()
	var xs []*looked
	for i := range piece {
		if piece[i].asks {
			xs = append(xs, &piece[i].looked)
		}
	}
	if len(xs) > 0 {
		err = s.askBodies(ctx, r.Where, xs)
	}
	return piece, err
}

// walk looks at the messages of a queue in pieces.
type walk struct {
	q       *queueState
	where   *condition.Expr
	version uint64 // of q, for which where was checked
	next    uint64 // where to go on; 0: it is over
	end     uint64 // behind the last message that there was when it began
}

// beginWalk begins a walk through a queue for messages that meet a condition.
func (s *Store) beginWalk(n Name, where *condition.Expr) (*walk, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.queueOf(n)
	if err != nil {
		return nil, err
	}
	w := &walk{q: q, where: where, next: 1, end: q.next}
	return w, w.check()
}

// check sees whether the queue has what the condition names. The lock is held.
func (w *walk) check() error {
	if w.version == w.q.version {
		return nil
	}
	w.version = w.q.version
	if w.where == nil {
		return nil
	}
	if err := w.where.Check(w.q.known, w.q.candidates()); err != nil {
		return fmt.Errorf("%w: queue %s: %w", ErrCondition, w.q.name.Short(), err)
	}
	return nil
}

// enterWalk takes the lock for a step of a walk. On success it is held.
func (s *Store) enterWalk(ctx context.Context, w *walk) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	runtime.Gosched() // whoever waits for the lock gets it before the next piece
	s.mu.Lock()
	err := s.usable()
	if err == nil && w.q.gone {
		err = fmt.Errorf("%w: %s", ErrNotFound, w.q.name.Short())
	}
	if err == nil {
		err = w.check()
	}
	if err != nil {
		s.mu.Unlock()
	}
	return err
}

// step looks at the next messages until each returns false. The lock is held.
func (w *walk) step(each func(e entry) bool) {
	over := false
	w.next = w.q.all.piece(w.next, stepPiece, func(e entry) bool {
		if over = e.seq() >= w.end; over {
			return false
		}
		return each(e)
	})
	if over {
		w.next = 0
	}
}

// room is what may still be read at once.
type room struct{ messages, bytes int64 }

// full counts a message and tells whether there is no room for another one.
func (r *room) full(e entry) bool {
	r.messages++
	r.bytes += e.size()
	return r.messages >= askPiece || r.bytes >= askBytes
}
