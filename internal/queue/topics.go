package queue

import (
	"context"
	"fmt"
	"slices"
)

// HasTopic tells whether there is a topic of that name. It costs a look into a table.
func (s *Store) HasTopic(_ context.Context, n Name) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.topicNames[s.Resolve(n)] != nil, s.sound()
}

// TopicStats describes a topic now. Its subscriptions are those of one moment.
func (s *Store) TopicStats(_ context.Context, n Name) (TopicStats, error) {
	n = s.Resolve(n)
	s.mu.Lock()
	if err := s.sound(); err != nil {
		s.mu.Unlock()
		return TopicStats{}, err
	}
	t := s.state.topicNames[n]
	if t == nil {
		s.mu.Unlock()
		return TopicStats{}, fmt.Errorf("%w: topic %s", ErrNotFound, n.Short())
	}
	st := TopicStats{Name: n, Labels: t.labels, TotalPublish: t.published, TotalDropped: t.dropped}
	subscribed := t.subscribed.all.Copy()
	s.mu.Unlock()
	if subscribed.Len() > 0 {
		st.Subscriptions = make([]Name, 0, subscribed.Len())
	}
	s.inPieces(subscribed.Values(), func(q *queueState) { st.Subscriptions = append(st.Subscriptions, q.name) })
	return st, nil
}

// inPieces calls each for queues, some of them under each hold of the lock.
func (s *Store) inPieces(qs []*queueState, each func(q *queueState)) {
	for some := range slices.Chunk(qs, describedAtOnce) {
		s.mu.Lock()
		for _, q := range some {
			each(q)
		}
		s.mu.Unlock()
	}
}
