package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// replayBatch is how many messages move in one atomic group.
const replayBatch = 100

// Replay sends dead letters again: each goes to the queue it came from (or to r.To) and leaves this one, in one atomic group.
// It keeps its id, and starts with no attempts. One that a pipeline step gave up is marked for that step alone (Message.Only),
// so that what had been delivered elsewhere is not delivered twice; not so with r.To.
func (s *Store) Replay(ctx context.Context, n Name, r ReplayRequest) (Replayed, error) {
	var done Replayed
	s.mu.Lock()
	q, err := s.queueOf(n)
	if err == nil && r.Where != nil {
		if err = r.Where.Check(q.known, q.candidates()); err != nil {
			err = fmt.Errorf("%w: queue %s: %w", ErrCondition, q.name.Short(), err)
		}
	}
	end := uint64(0)
	if err == nil {
		end = q.next
	}
	s.mu.Unlock()
	if err != nil {
		return done, err
	}
	after := uint64(0)
	for {
		limit := replayBatch
		if r.Max > 0 {
			limit = min(limit, r.Max-done.Moved)
		}
		batch, last, columns := s.replayable(q, r, after, end, limit)
		if len(batch) == 0 {
			return done, ctx.Err()
		}
		after = last
		if err := s.replayBatch(ctx, q, columns, batch, r, &done); err != nil {
			return done, err
		}
	}
}

// dug is a message that is to be replayed. Nobody else sees it until then.
type dug struct {
	entry entry
	stored
}

// replayable takes the next messages to replay out of every reader's sight.
func (s *Store) replayable(q *queueState, r ReplayRequest, after, end uint64, limit int) (batch []dug, last uint64, columns message.Columns) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.advance(s.clock())
	q.all.Ascend(after+1, func(e entry) bool {
		if e.seq() >= end || len(batch) >= limit {
			return false
		}
		last = e.seq()
		if e.claim() == nil && (r.Where == nil || r.Where.Match(s.state.env(q, e))) {
			batch = append(batch, dug{e, q.stored(e)})
		}
		return true
	})
	var nobody []doomed
	for _, d := range batch {
		s.state.doom(q, d.entry, &nobody)
	}
	return batch, last, q.def.Columns
}

// unreplay lets readers see messages again that were not replayed.
func (s *Store) unreplay(q *queueState, es []entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.relentAll(q, es)
	s.state.serve()
	s.settleUp()
}

// relentAll is unreplay with the lock held.
func (s *Store) relentAll(q *queueState, es []entry) {
	for _, e := range es {
		if e.doomed() {
			s.state.relent(q, e)
		}
	}
}

func (s *Store) replayBatch(ctx context.Context, q *queueState, columns message.Columns, batch []dug, r ReplayRequest, done *Replayed) error {
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
	c := Change{}
	for i, m := range msgs {
		to, ok := s.home(q, m, r.To)
		if !ok {
			homeless = append(homeless, es[i])
			continue
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
	moved, err := s.move(ctx, q, moving, &c)
	if err == nil {
		done.Moved += moved
	} else if moved == 0 {
		s.unreplay(q, moving)
	}
	return err
}

// home is where a dead letter of q goes: to a queue that was asked for, or else to the one it came from, by whatever name that has now.
func (s *Store) home(q *queueState, m *message.Message, wanted Name) (to Name, ok bool) {
	if m == nil {
		return to, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if to = s.Resolve(wanted); wanted == (Name{}) {
		if m.Death == nil || m.Death.Queue == "" {
			return to, false
		}
		from, err := ParseName(m.Death.Queue)
		if err != nil {
			return to, false
		}
		to = s.state.nowCalled(s.Resolve(from))
	}
	return to, to != q.name
}

// move puts messages elsewhere and removes them here, in one group; those that were purged meanwhile stay away. It returns how many
// went on their way: when ctx ends while they do, they stay out of sight until their fate is known.
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
		moved, err = s.end(ctx, ds, endMoved, func() { s.relentAll(q, es) }, func(pl *plan, i int) error {
			if s.lacking(&p.puts[i], p.where) {
				return errAgain
			}
			_, err := s.planPuts(pl, &p, i, nil)
			return err
		})
		if !errors.Is(err, errAgain) {
			return moved, err
		}
	}
}
