package queue

import (
	"context"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
)

// askFilters asks those that were not asked before. It is called with the lock held by enter and gives it up.
func (s *Store) askFilters(ctx context.Context, p *prepared, i int) error {
	pp, msgs := &p.puts[i], p.change.Puts[i].Messages
	subscribed, version, now := pp.topic.subscribed.all.Copy(), pp.topic.subscribed.version, timeOf(s.state.now)
	s.leave()
	if pp.filters.met == nil {
		pp.filters.met = map[*queueState]metFilter{}
	}
	over := func() bool { return ctx.Err() != nil }
	for _, q := range s.listFilters(subscribed.Values()) {
		var first *message.Column
		if q.columns != nil {
			first = &q.columns[0]
		}
		rows := pp.rows[q.queue]
		if known, ok := pp.filters.met[q.queue]; q.filter == nil || ok && known.columns == first ||
			first != nil && rows == nil {
			continue // without rows the columns are new: it is asked when there are some
		}
		of := metFilter{first, make([]bool, len(msgs))}
		for j := range msgs {
			m := msgs[j]
			m.ID = p.ids[pp.first+j]
			if m.Time.IsZero() {
				m.Time = now
			}
			if first != nil {
				m.Row, m.Body = rows[j], nil
			}
			of.met[j] = q.filter.Match(&messageEnv{q.columns, &m, over})
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		pp.filters.met[q.queue] = of
	}
	pp.filters.version = version
	return nil
}

// filterOf is a subscription with what its filter needs.
type filterOf struct {
	queue   *queueState
	filter  *condition.Expr // nil: it takes all
	columns message.Columns
}

// listFilters lists subscriptions that are not gone. It is called without the lock.
func (s *Store) listFilters(qs []*queueState) []filterOf {
	all := make([]filterOf, 0, len(qs))
	s.inPieces(qs, func(q *queueState) {
		if !q.gone {
			all = append(all, filterOf{q, q.filter, q.def.Columns})
		}
	})
	return all
}
