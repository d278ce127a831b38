package http_test

import (
	"context"
	"testing"

	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// awayStore is a store that nobody can ask for what there is: one that another machine has.
type awayStore struct{ door.Store }

func (awayStore) Queues(context.Context) ([]queue.Name, error) { return nil, queue.ErrUnavailable }
func (awayStore) Topics(context.Context) ([]queue.Name, error) { return nil, queue.ErrUnavailable }
func (awayStore) Snapshots(context.Context) ([]queue.Snapshot, error) {
	return nil, queue.ErrUnavailable
}

func (awayStore) HasTopic(context.Context, queue.Name) (bool, error) {
	return false, queue.ErrUnavailable
}

func (awayStore) Stats(context.Context, queue.Name) (s queue.Stats, err error) {
	return s, queue.ErrUnavailable
}

func (awayStore) TopicStats(context.Context, queue.Name) (s queue.TopicStats, err error) {
	return s, queue.ErrUnavailable
}

func (awayStore) Parse(context.Context, queue.Name, string) (*condition.Expr, error) {
	return nil, queue.ErrUnavailable
}

func (awayStore) Ready(context.Context) error { return queue.ErrUnavailable }

// TestWhatCannotBeAskedIsUnavailable: it is neither missing nor empty.
func TestWhatCannotBeAskedIsUnavailable(t *testing.T) {
	r := start(t, settings{wrap: func(s door.Store) door.Store { return awayStore{s} }})
	for _, path := range []string{"queues", "queues/q", "topics", "topics/t", "snapshots",
		"queues/q/messages?where=a%20=%201"} {
		r.want(503, "GET", "/default/"+path, "")
	}
	r.want(503, "PUT", "/default/topics/t/subscriptions/q", "{}")
	r.want(503, "DELETE", "/default/topics/t/subscriptions/q", "")
	r.want(503, "POST", "/default/queues/q/claim", `{"where": "a = 1"}`)
	r.want(503, "GET", "/readyz", "")
	r.want(500, "GET", "/metrics", "") // and not the metrics of a store without queues
}
