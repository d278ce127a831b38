package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tidwall/btree"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Settle ends claims, as one atomic group, and returns when that is durable. For each settlement it returns nil, or
// ErrStale where the claim was over already. Errors of the whole: ErrNoRoom, ErrUnavailable, ErrClosed, and ErrTooLarge
// for one dead letter that does not go into a group. What does not go into one group goes in several, as dead letters
// for a topic that would make more copies than Limits.Copies: after an error some may have ended.
func (s *Store) Settle(ctx context.Context, ss []Settlement) ([]error, error) {
	if len(ss) <= s.groups.passing {
		_, errs, err := s.Commit(ctx, Change{Settles: ss})
		if len(ss) < 2 || !errors.Is(err, ErrTooLarge) {
			return errs, err
		}
	}
	half := len(ss) / 2
	errs, err := s.Settle(ctx, ss[:half])
	if err != nil {
		return nil, err
	}
	rest, err := s.Settle(ctx, ss[half:])
	if err != nil {
		return nil, err
	}
	return append(errs, rest...), nil
}

// maxReason bounds a reason, which stays in memory with its dead letter.
const maxReason = 4 << 10

// open tells whether a dead letter may be put into its queues as it is: none is gone, or being deleted or altered, or
// has other columns by now. The lock is held.
func (s *Store) open(d *deadLetter) bool {
	for i := range d.copies {
		c := &d.copies[i]
		if c.to.gone || s.defining[c.to.name] != nil || !sameColumns(c.columns, c.to.def.Columns) {
			return false
		}
	}
	return true
}

// prepareDead reads the bodies of the messages that become dead letters, and sees to it that their queues exist.
func (s *Store) prepareDead(ctx context.Context, p *prepared) error {
	copies := 0
	for i, st := range p.change.Settles {
		if st.Kind != Dead {
			continue
		}
		if err := s.limits.tooMany(len(p.dead), copies); err != nil {
			return err
		}
		s.mu.Lock()
		q, e, err := s.state.claimOf(st.Token)
		s.mu.Unlock()
		if err != nil {
			continue // told by planSettles
		}
		d, err := s.letter(ctx, q, e, message.Death{Reason: st.Reason, Step: st.Step})
		if errors.Is(err, ErrStale) {
			continue
		}
		if err != nil {
			return err
		}
		if p.dead == nil {
			p.dead = map[int]*deadLetter{}
		}
		p.dead[i] = d
		copies += len(d.copies)
	}
	return nil
}

// letter makes the dead letter of a message. ErrStale: it was purged meanwhile.
func (s *Store) letter(ctx context.Context, q *queueState, e entry, death message.Death) (*deadLetter, error) {
	s.mu.Lock()
	name, def := q.name, q.def
	if !e.there() || q.gone {
		s.mu.Unlock()
		return nil, ErrStale
	}
	death.Queue, death.Attempts = name.String(), int(e.attempts())
	parts := q.stored(e)
	death.Time = timeOf(s.advance())
	s.mu.Unlock()
	part, err := s.bodyPart(parts.place)
	var damage *journal.DamageError
	if errors.As(err, &damage) || errors.Is(err, journal.ErrReleased) {
		death.Reason = joinReasons(death.Reason, "the body cannot be read: "+err.Error())
		part = nil
	} else if err != nil {
		return nil, err
	}
	m, err := parts.message(part)
	if err != nil { // it is sound: a later version can read it
		return nil, fmt.Errorf("message %d of queue %s: %w", e.seq(), name.Short(), err)
	}
	death.Reason = message.Beginning(death.Reason, maxReason)
	m.Death, m.Only, m.Dedup, m.NotBefore, m.Expires = &death, "", "", time.Time{}, time.Time{}
	d := &deadLetter{from: q, entry: e}
	err = s.address(ctx, d, &m, def.Columns)
	return d, err
}

// address makes the copies of a dead letter whose row, if it has one, is of the columns of. A letter for a topic goes
// to each subscription whose filter it meets, but the one that it comes from; when no subscription takes it, it goes to
// the queue of that name: nobody else would keep it.
func (s *Store) address(ctx context.Context, d *deadLetter, m *message.Message, of message.Columns) error {
	over := func() bool { return ctx.Err() != nil }
	var whole []byte // of a row, as JSON
	add := func(q *queueState, columns message.Columns) {
		own := *m
		if own.Row != nil && !sameColumns(of, columns) {
			if whole == nil {
				whole = of.AppendJSON(nil, own.Row)
			}
			own.Body, own.Row = whole, nil
		}
		d.copies = append(d.copies, letterCopy{q, columns, own})
	}
	s.mu.Lock()
	var subscribed *btree.Map[uint32, *queueState]
	if t := s.state.topicNames[s.Resolve(d.from.def.deadLetter(d.from.name))]; t != nil {
		subscribed = t.subscribed.all.Copy()
	}
	s.mu.Unlock()
	if subscribed != nil {
		for _, q := range s.listFilters(subscribed.Values()) {
			if q.queue != d.from && (q.filter == nil || q.filter.Match(&messageEnv{of, m, over})) {
				add(q.queue, q.columns)
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if len(d.copies) > 0 {
		return nil
	}
	q, columns, err := s.deadQueue(ctx, d.from)
	if err == nil {
		add(q, columns)
	}
	return err
}

func joinReasons(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// deadQueue finds or makes the dead-letter queue of a queue.
func (s *Store) deadQueue(ctx context.Context, of *queueState) (*queueState, message.Columns, error) {
	for {
		s.mu.Lock()
		// It may be renamed while somebody waits here.
		dead, def := s.Resolve(of.def.deadLetter(of.name)), Definition{}
		lane := s.elsewhere(dead, TopicBefore)
		if lane != nil {
			dead, def = lane.Queue, lane.Definition
		}
		q, f := s.state.queueNames[dead], s.defining[dead]
		var columns message.Columns
		if q != nil {
			columns = q.def.Columns
		}
		s.mu.Unlock()
		lane.use()
		if f != nil { // made, altered or deleted: what will it be?
			if err := f.wait(ctx); err != nil && ctx.Err() != nil {
				return nil, nil, err
			}
			continue
		}
		if q != nil {
			return q, columns, nil
		}
		_, err := s.createQueue(ctx, dead, def, terms{needed: true})
		if err != nil && !errors.Is(err, ErrExists) && !errors.Is(err, ErrElsewhere) { // look again, there is a lane
			return nil, nil, fmt.Errorf("make dead-letter queue %s: %w", dead.Short(), err)
		}
	}
}

// shed puts claims back of a key so many of which are held that a settlement, which puts back all that were handed out
// after it, would be long: the last ones, which the change itself does not end. Nobody else gets them before the
// settlement is through. It returns false when there is nothing to do. The lock is held.
func (s *Store) shed(c *Change) (shed bool, err error) {
	events := s.state.toShed(c, s.groups.passing)
	if len(events) == 0 {
		return false, nil
	}
	return true, s.write(events)
}

// writePacked writes what was packed. The lock is held.
func (s *Store) writePacked() error {
	defer s.packing.reset()
	return s.journal.Write(s.packing.records)
}

// write keeps events that nobody waits for and applies them at once, in several groups if they are many. After an error
// the first of these are kept and applied. The lock is held.
func (s *Store) write(events []event) error {
	if len(events) == 0 {
		return nil
	}
	at := s.advance()
	for some := range slices.Chunk(events, s.groups.passing) {
		group := make([]applied, len(some))
		for i, e := range some {
			group[i] = applied{at: at, event: e}
			s.packing.add(at, e)
		}
		if err := s.writePacked(); err != nil {
			return s.journalError(err)
		}
		if err := s.state.applyMost(group, 0); err != nil {
			return err
		}
	}
	s.state.serve()
	s.settleUp()
	return nil
}
