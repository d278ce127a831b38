package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Replay sends dead letters again: each goes to the queue it came from (or to r.To) and leaves this one. It keeps its
// id, and starts with no attempts. One that a pipeline step gave up is marked for that step alone (Message.Only), so
// that what had been delivered elsewhere is not delivered twice; not so with r.To. Some move at a time, each group as
// one atomic step. When ctx ends, the group that moves goes to its end, and its error is returned; the result counts
// those that have moved, after an error too.
func (s *Store) Replay(ctx context.Context, n Name, r ReplayRequest) (Replayed, error) {
	var done Replayed
	w, err := s.beginWalk(n, r.Where)
	if err != nil {
		return done, err
	}
	for !w.over() {
		limit := s.groups.moved
		if r.Max > 0 {
			limit = min(limit, r.Max-done.Moved)
		}
		if limit == 0 {
			break
		}
		found, err := s.replayable(ctx, w, limit)
		if err != nil {
			return done, err
		}
		for len(found) > 0 {
			batch, rest, columns := s.takeReplayable(w, found)
			if found = rest; len(batch) == 0 {
				continue
			}
			if err := s.replayBatch(context.WithoutCancel(ctx), w.q, columns, batch, r, &done); err != nil {
				return done, err
			}
			if err := ctx.Err(); err != nil {
				return done, err
			}
		}
	}
	return done, nil
}

// replayable finds the next messages to replay, at most so many.
func (s *Store) replayable(ctx context.Context, w *walk, limit int) (found []*looked, err error) {
	if err := s.lookOn(ctx, w, func(e entry) bool { return e.claim() == nil }); err != nil {
		if errors.Is(err, ErrNotFound) { // the queue was deleted meanwhile: nothing is left to replay
			w.next, err = 0, nil
		}
		return nil, err
	}
	return s.askNext(ctx, w, limit)
}

// takeReplayable takes the first of what was found out of every reader's sight, as much as moves in one group. What has
// changed meanwhile is asked again, with the body that was read.
func (s *Store) takeReplayable(w *walk, found []*looked) (batch []dug, rest []*looked, columns message.Columns) {
	s.mu.Lock()
	defer s.mu.Unlock()
	batch, rest = s.state.toReplay(w, found, int64(s.groups.movedBytes))
	return batch, rest, w.q.def.Columns
}

// unreplay lets readers see messages again that were not replayed.
func (s *Store) unreplay(q *queueState, es []entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.relentAll(q, es)
	s.state.look(s.clock())
	s.state.serve()
	s.settleUp()
}

func (s *Store) replayBatch(ctx context.Context, q *queueState, columns message.Columns, batch []dug, r ReplayRequest,
	done *Replayed) error {
	addrs := make([]journal.Address, len(batch))
	es := make([]entry, len(batch))
	for i, d := range batch {
		addrs[i], es[i] = d.place, d.entry
	}
	msgs := make([]*message.Message, len(batch))
	err := s.journal.Read(ctx, addrs, func(i int, rec journal.Record, err error) {
		if err == nil {
			var m message.Message
			if m, err = batch[i].message(rec.Body); err == nil {
				msgs[i] = &m
			}
		}
	})
	if err != nil {
		s.unreplay(q, es)
		return fmt.Errorf("read dead letters: %w", err)
	}
	var homeless, moving []entry
	c := Change{Existing: r.Existing}
	for i, m := range msgs {
		to, ok, err := s.home(ctx, q, m, &r)
		if err == nil && !ok {
			homeless = append(homeless, es[i])
			continue
		}
		if err == nil {
			to, err = s.laneTo(ctx, to)
		}
		if err != nil {
			s.unreplay(q, es)
			return err
		}
		if m.Row != nil {
			m.Body, m.Row = columns.AppendJSON(nil, m.Row), nil
		}
		m.Only = ""
		if m.Death != nil && r.To == (Name{}) {
			m.Only = m.Death.Step
		}
		m.Death = nil
		m.Dedup, m.Origin = "", message.Origin{} // it is not put again: nothing may take it for a duplicate
		moving = append(moving, es[i])
		c.Puts = append(c.Puts, QueuePut{To: to, Messages: []message.Message{*m}})
	}
	done.Homeless += len(homeless)
	s.unreplay(q, homeless)
	if len(moving) == 0 {
		return nil
	}
	return s.moveAll(ctx, q, moving, &c, done)
}

// moveAll moves messages in one group or, when that is more than the journal takes at once, one by one.
func (s *Store) moveAll(ctx context.Context, q *queueState, es []entry, c *Change, done *Replayed) error {
	began := s.clock()
	moved, err := s.move(ctx, q, es, c)
	if moved == 0 && errors.Is(err, ErrTooLarge) && len(es) > 1 {
		for i := range es {
			one := Change{Puts: c.Puts[i : i+1], Existing: c.Existing}
			if err := s.moveAll(ctx, q, es[i:i+1], &one, done); err != nil {
				s.unreplay(q, es[i+1:])
				return err
			}
		}
		return nil
	}
	if err == nil {
		done.Moved += moved
		s.tellReplayed(ctx, c, began)
	} else if moved == 0 {
		s.unreplay(q, es)
	}
	return err
}

// home is where a dead letter of q goes: to a queue that was asked for, or else to the one it came from, by whatever
// name that has now.
func (s *Store) home(ctx context.Context, q *queueState, m *message.Message, r *ReplayRequest) (to Name, ok bool,
	err error) {
	if m == nil {
		return to, false, nil
	}
	if to = s.Resolve(r.To); r.To == (Name{}) {
		if m.Death == nil || m.Death.Queue == "" {
			return to, false, nil
		}
		from, err := ParseName(m.Death.Queue)
		if err != nil {
			return to, false, nil
		}
		if to = s.Resolve(from); r.Home != nil {
			if to, err = r.Home(ctx, to); err != nil {
				return to, false, err
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.To == (Name{}) && r.Home == nil {
		to = s.state.nowCalled(to)
	}
	return to, to != q.name, nil
}

// move puts messages elsewhere and removes them here, in one group; those that were purged meanwhile stay away. It
// returns how many went on their way: when ctx ends while they do, they stay out of sight until their fate is known.
func (s *Store) move(ctx context.Context, q *queueState, es []entry, c *Change) (moved int, err error) {
	puts, ids, err := s.checkChange(c, nil, nil)
	if err != nil {
		return 0, err
	}
	p := prepared{change: c, where: queueOnly, puts: puts, ids: ids}
	ds := make([]doomed, len(es))
	for i, e := range es {
		ds[i] = doomed{q: q, e: e}
	}
	for {
		if err := s.prepare(ctx, &p); err != nil {
			return 0, err
		}
		s.leave()
		moved, err = s.end(ctx, ds, endMoved, func() { s.state.relentAll(q, es) }, func(pl *plan, i int) error {
			if s.lacking(&p.puts[i], p.where) {
				return errAgain
			}
			_, err := pl.puts(&p, i, nil)
			return err
		})
		if !errors.Is(err, errAgain) {
			return moved, err
		}
	}
}
