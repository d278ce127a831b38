package queue

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/condition"
)

// walk looks at the messages of a queue in pieces. What its condition asks of them is asked without the lock, of what
// was taken along under it.
type walk struct {
	q       *queueState
	where   *condition.Expr
	version uint64   // of q, for which where was checked
	next    uint64   // where to go on; 0: there is nothing more
	end     uint64   // behind the last message that there was when it began
	seen    []looked // messages before next that were taken along and not asked yet
	kept    []looked // the memory of seen
}

// check sees whether the queue has what the condition names. The lock is held.
func (w *walk) check() error {
	if w.version == w.q.version {
		return nil
	}
	w.version = w.q.version
	return w.q.fits(w.where)
}

// fits tells whether the queue has what a condition names; nil names nothing.
func (q *queueState) fits(where *condition.Expr) error {
	if where == nil {
		return nil
	}
	if err := where.Check(q.known, q.candidates()); err != nil {
		return fmt.Errorf("%w: queue %s: %w", ErrCondition, q.name.Short(), err)
	}
	return nil
}

// over tells whether there is nothing left to look at.
func (w *walk) over() bool { return w.next == 0 && len(w.seen) == 0 }

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

// peekedAt is a message that may be shown.
type peekedAt struct {
	stored
	shown Peeked
	size  int64
}

// firstFound is what is known of a message without reading it.
type firstFound struct {
	shown  Peeked
	stored stored
}

// dug is a message that is to be replayed. Nobody else sees it until then.
type dug struct {
	entry entry
	stored
}

// takeAlong takes a piece of the next messages along, those that are fit. What it took along before is used no more.
// The lock is held.
func (w *walk) takeAlong(fit func(e entry) bool) {
	clear(w.kept)
	w.kept = w.kept[:0]
	w.step(func(e entry) bool {
		if fit(e) {
			w.kept = append(w.kept, w.q.look(e))
		}
		return true
	})
	w.seen = w.kept
}

// ask returns, of the messages that were taken along, the next that meet the condition, as they were when they were
// looked at: at most so many, and with them those that are unread: whether these meet it only their bodies tell, as
// many as are read at once. It needs no lock. What it returns when who asks has given up means
// nothing.
func (w *walk) ask(over func() bool, most int) (met, unread []*looked) {
	asks, full := room{}, false
	for len(w.seen) > 0 && len(met) < most && !full && !over() {
		x := &w.seen[0]
		w.seen = w.seen[1:]
		missed := false
		if x.meets = true; w.where != nil {
			x.env = entryEnv{kept: x, over: over, body: bodyLater}
			x.meets = w.where.Match(&x.env)
			missed = x.env.body == bodyMissed
		}
		if missed {
			unread = append(unread, x)
			full = asks.full(x.size)
		}
		if x.meets || missed {
			met = append(met, x)
		}
	}
	return met, unread
}

// peekAll are the next messages, at most so many; with ready only those that can be claimed.
func (s *state) peekAll(w *walk, ready bool, most int) (piece []peekedAt) {
	w.step(func(e entry) bool {
		if x, ok := s.peekAt(w.q, e, ready); ok {
			piece = append(piece, x)
		}
		return len(piece) < most
	})
	return piece
}

// peekMet are those of messages that met the condition of a walk which still do.
func (s *state) peekMet(w *walk, met []*looked, ready bool) (piece []peekedAt) {
	for _, x := range met {
		if e := x.entry; e.there() && s.stillMeets(w.q, x, w.where) {
			if x, ok := s.peekAt(w.q, e, ready); ok {
				piece = append(piece, x)
			}
		}
	}
	return piece
}

// peekAt shows a message; with ready only if it can be claimed.
func (s *state) peekAt(q *queueState, e entry, ready bool) (x peekedAt, ok bool) {
	st := s.stateOf(q, e)
	if ready && st != Ready {
		return x, false
	}
	return peekedAt{q.stored(e), s.peeked(q, e, st), e.size()}, true
}

// toReplay takes the first of what a walk found out of every reader's sight, as much as has so many bytes. What has
// changed meanwhile is asked again, with the body that was read. The others are the rest.
func (s *state) toReplay(w *walk, found []*looked, bytes int64) (batch []dug, rest []*looked) {
	q := w.q
	var nobody []doomed
	size := int64(0)
	for len(found) > 0 {
		x := found[0]
		e := x.entry
		if e.there() && len(batch) > 0 && size+e.size() > bytes {
			break
		}
		found = found[1:]
		if !e.there() || e.claim() != nil || !s.stillMeets(q, x, w.where) {
			continue
		}
		size += e.size()
		batch = append(batch, dug{e, q.stored(e)})
		s.doom(q, e, &nobody)
	}
	return batch, found
}

// first is the oldest message of q that can be claimed and meets a condition; there tells whether there is one. done is
// false while an index is still being made, with what is to be asked for it.
func (s *state) first(q *queueState, where *condition.Expr) (f firstFound, there, done bool, ask *questions,
	err error) {
	ws := []wanted{{q: q, where: where}}
	if err := gather(ws); err != nil {
		return f, false, false, nil, err
	}
	if done, ask := s.buildFor(ws, 1); !done {
		return f, false, false, ask, nil
	}
	oldest := ws[0].find.oldest(s, q)
	if oldest == none {
		return f, false, !ws[0].find.more(), nil, nil
	}
	return firstFound{s.peeked(q, oldest, Ready), q.stored(oldest)}, true, true, nil, nil
}

// idle looks at a piece: see Store.idle.
func (s *state) idle(w *walk) (idle, done bool, ask *questions) {
	q := w.q
	if q.reserved > 0 {
		return false, true, nil
	}
	ws := []wanted{{q: q, where: w.where}}
	if err := gather(ws); err != nil {
		return false, true, nil
	}
	built, ask := s.buildFor(ws, 1)
	if !built {
		return false, false, ask
	}
	if ws[0].find.oldest(s, q) != none {
		return false, true, nil
	}
	if ws[0].find.more() {
		return false, false, nil
	}
	if w.next == 0 || q.all.Len() == q.ready.Len() {
		return true, true, nil
	}
	w.takeAlong(func(e entry) bool { return s.stateOf(q, e) != Ready })
	return false, false, nil
}
