package shard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Put implements queue.Service.
func (r *Router) Put(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error) {
	return whileMoved(ctx, func() ([]queue.PutResult, error) {
		_, s, err := r.of(n)
		if err != nil {
			return nil, err
		}
		return s.Put(ctx, n, msgs)
	})
}

// Publish implements queue.Service.
func (r *Router) Publish(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error) {
	return whileMoved(ctx, func() ([]queue.PutResult, error) {
		_, s, err := r.target(n)
		if err != nil {
			return nil, err
		}
		return s.Publish(ctx, n, msgs)
	})
}

// PublishEach implements queue.Service.
func (r *Router) PublishEach(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error) {
	return whileMoved(ctx, func() ([]queue.PutResult, error) {
		_, s, err := r.target(n)
		if err != nil {
			return nil, err
		}
		return s.PublishEach(ctx, n, msgs)
	})
}

// whileMoved tries again while a queue moves from the shard where it would have been made to another one.
func whileMoved[T any](ctx context.Context, try func() (T, error)) (T, error) {
	for {
		if t, err := try(); !errors.Is(err, queue.ErrElsewhere) || !pauseMoved(ctx) {
			return t, err
		}
	}
}

// pauseMoved waits a little for a queue that moves: a sync or two, and seldom. It is false when ctx has ended.
func pauseMoved(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Millisecond):
		return true
	}
}

// target is the shard where what is put to a name goes: to the topic, or else to the queue.
func (r *Router) target(n queue.Name) (shard int, s store, err error) {
	if n = r.Resolve(n); reserved(n) {
		return 0, nil, errReserved(n)
	}
	shard = r.places.of(n, queue.TopicBefore)
	return shard, r.stores[shard], nil
}

// Commit implements queue.Service. It is one atomic group of one shard: that of its settlements, else of its puts, and,
// where it depends on notes, that of the notes. What it puts into queues of other shards is in that group, too, and is
// carried on by the relay: it is there a moment after Commit has returned, and its result has no sequence. Where its
// settlements are of several shards those of the first one are in the group with everything else, and the others end
// after it: then a crash may let messages come again that were settled.
func (r *Router) Commit(ctx context.Context, c queue.Change) ([][]queue.PutResult, []error, error) {
	type done struct {
		puts    [][]queue.PutResult
		settles []error
	}
	d, err := whileMoved(ctx, func() (d done, err error) {
		d.puts, d.settles, err = r.commit(ctx, c)
		return d, err
	})
	return d.puts, d.settles, err
}

func (r *Router) commit(ctx context.Context, c queue.Change) ([][]queue.PutResult, []error, error) {
	home, err := r.homeOf(&c)
	if err != nil {
		return nil, nil, err
	}
	own := c
	var first, later []int
	own.Settles, first, later = r.settlesOf(&c, home)
	if own.Puts, err = r.putsFrom(ctx, &c, home); err != nil {
		return nil, nil, err
	}
	var puts [][]queue.PutResult
	var some []error
	err = r.withNotes(ctx, home, c.Notes, c.If, func(ctx context.Context, kept []queue.Note) (err error) {
		own.Notes = kept
		puts, some, err = r.stores[home].Commit(ctx, own)
		return err
	})
	if err != nil {
		return nil, nil, named(err, &c, &own)
	}
	for i := range puts {
		if reserved(own.Puts[i].To) {
			for j := range puts[i] {
				puts[i][j].Sequence = 0 // of the lane
			}
		}
	}
	settles := make([]error, len(c.Settles))
	for i, err := range some {
		settles[first[i]] = err
	}
	if len(later) == 0 {
		return puts, settles, nil
	}
	rest := make([]queue.Settlement, len(later))
	for i, at := range later {
		rest[i] = c.Settles[at]
	}
	some, err = r.Settle(ctx, rest)
	for i, err := range some {
		settles[later[i]] = err
	}
	return puts, settles, err
}

// named is the error of a change in which a full lane has the name of where it leads.
func named(err error, c, own *queue.Change) error {
	var full *queue.FullError
	if !errors.As(err, &full) || !reserved(full.Name) {
		return err
	}
	for i := range own.Puts {
		if own.Puts[i].To == full.Name {
			return onTheWay(c.Puts[i].To, full)
		}
	}
	return err
}

// homeOf is the shard whose group a change is.
func (r *Router) homeOf(c *queue.Change) (int, error) {
	switch {
	case len(c.If) > 0:
		for i := range c.Settles {
			if shard, _ := r.numbers.in(c.Settles[i].Token); shard != notesShard {
				return 0, fmt.Errorf("%w: a change depends on notes and settles messages of shard %d: notes are in "+
					"shard %d", queue.ErrDefinition, shard, notesShard)
			}
		}
		return notesShard, nil
	case len(c.Settles) > 0:
		shard, _ := r.numbers.in(c.Settles[0].Token)
		if shard >= len(r.stores) {
			return notesShard, nil
		}
		return shard, nil
	case len(c.Puts) > 0:
		shard, _, err := r.target(c.Puts[0].To)
		return shard, err
	}
	return notesShard, nil
}

// settlesOf are the settlements of a shard with its own tokens, and of all the indexes of these and of the others.
func (r *Router) settlesOf(c *queue.Change, home int) (own []queue.Settlement, first, later []int) {
	for i, st := range c.Settles {
		shard, token := r.numbers.in(st.Token)
		if shard != home && shard < len(r.stores) {
			later = append(later, i)
			continue
		}
		if shard != home { // no token of ours: it is stale in any shard
			token = queue.Token{}
		}
		st.Token = token
		own, first = append(own, st), append(first, i)
	}
	return own, first, later
}

// putsFrom are the puts of a change as the shard takes them whose group it is: those to other shards go into lanes.
func (r *Router) putsFrom(ctx context.Context, c *queue.Change, home int) ([]queue.QueuePut, error) {
	puts, cloned := c.Puts, false
	for i := range c.Puts {
		shard, s, err := r.target(c.Puts[i].To)
		if err != nil {
			return nil, err
		}
		if shard == home {
			continue
		}
		if !cloned {
			puts, cloned = slices.Clone(puts), true
		}
		if puts[i], err = r.intoLane(ctx, &c.Puts[i], home, s, c.Existing); err != nil {
			return nil, err
		}
	}
	return puts, nil
}

// intoLane is a put to a queue or topic of another store as one into the lane that leads there.
func (r *Router) intoLane(ctx context.Context, p *queue.QueuePut, home int, s store, existing bool) (
	out queue.QueuePut, err error) {
	n := r.Resolve(p.To)
	columns, err := r.columnsFor(ctx, p, s, existing || !r.demand)
	if err != nil {
		return out, err
	}
	lane := laneOfChanges(n)
	if err := r.makeLane(ctx, home, lane); err != nil {
		return out, err
	}
	out.To = lane.Queue
	out.Messages = slices.Clone(p.Messages)
	for i := range out.Messages {
		m := &out.Messages[i]
		if m.Row != nil {
			m.Body, m.Row = columns.AppendJSON(nil, m.Row), nil
		} else if columns != nil {
			if _, err := columns.FromJSON(m.Body); err != nil && m.Death == nil {
				return out, fmt.Errorf("%w: queue %s, message %d of %d: %w", queue.ErrMismatch, n.Short(), i+1,
					len(p.Messages), err)
			}
		}
		wrap(m)
	}
	return out, nil
}

// columnsFor looks whether a put to another shard would be taken there, and which columns its rows are of.
func (r *Router) columnsFor(ctx context.Context, p *queue.QueuePut, s store, existing bool) (message.Columns,
	error) {
	if topic, err := s.HasTopic(ctx, p.To); err != nil || topic {
		return nil, err
	}
	d, version, err := s.Definition(ctx, p.To)
	switch {
	case errors.Is(err, queue.ErrNotFound) && !existing && p.Version == 0:
		return nil, p.To.Check()
	case err != nil:
		return nil, err
	case p.Version != 0 && p.Version != version:
		return nil, fmt.Errorf("%w: the definition of queue %s", queue.ErrChanged, p.To.Short())
	}
	for i := range p.Messages {
		if row := p.Messages[i].Row; row != nil && len(row) != len(d.Columns) {
			return nil, fmt.Errorf("%w: queue %s has %d columns, message %d of %d has %d values", queue.ErrMismatch,
				p.To.Short(), len(d.Columns), i+1, len(p.Messages), len(row))
		}
	}
	return d.Columns, nil
}
