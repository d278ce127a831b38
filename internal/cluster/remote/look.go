package remote

import (
	"context"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/queue"
)

type fromArgs struct {
	Queue queue.Name
	Where where
}

type peekArgs struct {
	Name       queue.Name
	Where      where
	After      uint64
	Max, Bytes int
	Hold       bool
	NoBody     bool
	Ready      bool
}

type peeked struct {
	Messages []queue.Peeked
	Tables   tables
}

// peekedOf takes the columns out of messages, and keeps each once.
func peekedOf(ps []queue.Peeked) (p peeked) {
	p.Messages = ps
	for i := range ps {
		p.Tables.add(ps[i].Columns)
		ps[i].Columns = nil
	}
	return p
}

// messages have their columns again.
func (p *peeked) messages() []queue.Peeked {
	for i := range p.Messages {
		p.Messages[i].Columns = p.Tables.of(i)
	}
	return p.Messages
}

type defined struct {
	Definition queue.Definition
	Version    uint64
}

var (
	queues      = ask0("Queues", queue.Shard.Queues)
	topics      = ask0("Topics", queue.Shard.Topics)
	snapshots   = ask0("Snapshots", queue.Shard.Snapshots)
	has         = ask1("Has", queue.Shard.Has)
	hasTopic    = ask1("HasTopic", queue.Shard.HasTopic)
	hasSnapshot = ask1("HasSnapshot", queue.Shard.HasSnapshot)
	statsOf     = ask1("Stats", queue.Shard.Stats)
	topicStats  = ask1("TopicStats", queue.Shard.TopicStats)
	nowCalled   = find1("NowCalled", queue.Shard.NowCalled)
	definition  = define("Definition", func(ctx context.Context, s queue.Shard, n queue.Name, _ *exchange) (d defined,
		err error) {
		d.Definition, d.Version, err = s.Definition(ctx, n)
		return d, err
	})
	parse = define("Parse", func(ctx context.Context, s queue.Shard, a two[queue.Name, string], _ *exchange) (where,
		error) {
		e, err := s.Parse(ctx, a.One, a.Two)
		return whereOf(e), err
	})
	idle = define("Idle", func(ctx context.Context, s queue.Shard, a fromArgs, _ *exchange) (bool, error) {
		e, err := a.Where.parse()
		if err != nil {
			return false, err
		}
		return s.Idle(ctx, a.Queue, e)
	})
	first = define("First", func(ctx context.Context, s queue.Shard, a fromArgs, _ *exchange) (p peeked, err error) {
		e, err := a.Where.parse()
		if err != nil {
			return p, err
		}
		one, ok, err := s.First(ctx, queue.From{Queue: a.Queue, Where: e})
		if ok {
			p = peekedOf([]queue.Peeked{one})
		}
		return p, err
	})
	look = define("Look", func(ctx context.Context, s queue.Shard, a two[queue.Name, uint64], _ *exchange) (peeked,
		error) {
		one, err := s.Look(ctx, a.One, a.Two)
		return peekedOf([]queue.Peeked{one}), err
	})
	peek = define("Peek", func(ctx context.Context, s queue.Shard, a peekArgs, x *exchange) (p peeked, err error) {
		e, err := a.Where.parse()
		if err != nil {
			return p, err
		}
		ps, err := s.Peek(ctx, a.Name, queue.PeekRequest{Where: e, After: a.After, Max: a.Max, Bytes: bounded(a.Bytes),
			Hold: x.hold(a.Hold), NoBody: a.NoBody, Ready: a.Ready})
		return peekedOf(ps), err
	})
)

// bounded is how many bytes the messages of one answer may have.
func bounded(bytes int) int {
	if bytes <= 0 {
		return mostBytes
	}
	return min(bytes, mostBytes)
}

// Queues implements queue.Looking.
func (s *Store) Queues(ctx context.Context) ([]queue.Name, error) { return queues.of(ctx, s, none{}) }

// Topics implements queue.Looking.
func (s *Store) Topics(ctx context.Context) ([]queue.Name, error) { return topics.of(ctx, s, none{}) }

// Snapshots implements queue.Looking.
func (s *Store) Snapshots(ctx context.Context) ([]queue.Snapshot, error) {
	return snapshots.of(ctx, s, none{})
}

// Has implements queue.Shard.
func (s *Store) Has(ctx context.Context, n queue.Name) (bool, error) { return has.of(ctx, s, n) }

// HasTopic implements queue.Looking.
func (s *Store) HasTopic(ctx context.Context, n queue.Name) (bool, error) {
	return hasTopic.of(ctx, s, n)
}

// HasSnapshot implements queue.Shard.
func (s *Store) HasSnapshot(ctx context.Context, n queue.Name) (bool, error) {
	return hasSnapshot.of(ctx, s, n)
}

// Stats implements queue.Looking.
func (s *Store) Stats(ctx context.Context, n queue.Name) (queue.Stats, error) {
	return statsOf.of(ctx, s, n)
}

// TopicStats implements queue.Looking.
func (s *Store) TopicStats(ctx context.Context, n queue.Name) (queue.TopicStats, error) {
	return topicStats.of(ctx, s, n)
}

// NowCalled implements queue.Shard.
func (s *Store) NowCalled(ctx context.Context, n queue.Name) (now queue.Name, ok bool, err error) {
	f, err := nowCalled.of(ctx, s, n)
	return f.Value, f.OK, err
}

// Definition implements queue.Looking.
func (s *Store) Definition(ctx context.Context, n queue.Name) (d queue.Definition, version uint64, err error) {
	r, err := definition.of(ctx, s, n)
	return r.Definition, r.Version, err
}

// Parse implements queue.Looking.
func (s *Store) Parse(ctx context.Context, n queue.Name, text string) (*condition.Expr, error) {
	w, err := parse.of(ctx, s, pair(n, text))
	if err != nil {
		return nil, err
	}
	return w.parse()
}

// Idle implements queue.Looking.
func (s *Store) Idle(ctx context.Context, n queue.Name, e *condition.Expr) (bool, error) {
	return idle.of(ctx, s, fromArgs{n, whereOf(e)})
}

// First implements queue.Looking.
func (s *Store) First(ctx context.Context, from queue.From) (one queue.Peeked, ok bool, err error) {
	p, err := first.of(ctx, s, fromArgs{from.Queue, whereOf(from.Where)})
	if ok = len(p.Messages) > 0; ok {
		one = p.messages()[0]
	}
	return one, ok, err
}

// Look implements queue.Looking.
func (s *Store) Look(ctx context.Context, n queue.Name, sequence uint64) (one queue.Peeked, err error) {
	p, err := look.of(ctx, s, pair(n, sequence))
	if len(p.Messages) > 0 {
		one = p.messages()[0]
	}
	return one, err
}

// Peek implements queue.Looking. One answer has 64 MiB of messages at most, or one message.
func (s *Store) Peek(ctx context.Context, n queue.Name, r queue.PeekRequest) ([]queue.Peeked, error) {
	p, err := peek.ask(ctx, s, peekArgs{n, whereOf(r.Where), r.After, r.Max, r.Bytes, r.Hold != nil, r.NoBody, r.Ready},
		asked{hold: r.Hold})
	return p.messages(), err
}
