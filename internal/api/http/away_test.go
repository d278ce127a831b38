package http_test

import (
	"testing"

	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/door/doortest"
	"github.com/hikyaku/hikyaku/internal/journal"
)

// awayStore is a store that nobody can ask for what there is: one that another machine has.
type awayStore struct {
	*doortest.Away
	journalStats
}

type journalStats interface{ JournalStats() journal.Stats }

// TestWhatCannotBeAskedIsUnavailable: it is neither missing nor empty.
func TestWhatCannotBeAskedIsUnavailable(t *testing.T) {
	r := start(t, settings{wrap: func(s door.Store) door.Store {
		away := &doortest.Away{Service: s}
		away.Go(doortest.Questions()...)
		return awayStore{away, s}
	}})
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
