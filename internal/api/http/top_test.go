package http_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hikyaku/hikyaku/internal/access"
	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/pipeline"
)

func TestTopTellsTheBusiestThatTheUserMaySee(t *testing.T) {
	grant := func(on string, can ...string) []access.Grant { return []access.Grant{{Can: can, On: []string{on}}} }
	r := start(t, settings{users: []access.User{
		{Name: "all", Secret: "all-secret", Grants: grant("*", "put", "take", "admin")},
		{Name: "reader", Secret: "reader-secret", Grants: grant("news", "take")},
	}, components: func() []pipeline.NodeStats {
		return []pipeline.NodeStats{{Name: "hook", Kind: pipeline.KindSink, Retries: 2, Rejected: 1, InFlight: 3}}
	}})
	r.secret = "all-secret"
	for _, q := range []string{"news", "jobs", "quiet"} {
		r.want(201, "PUT", "/default/queues/"+q, "")
	}
	r.want(200, "POST", "/default/queues/news/messages", `{"body":"one"}`)
	r.want(200, "POST", "/default/queues/jobs/messages", `{"messages":[{"body":"one"},{"body":"two"}]}`)
	r.want(200, "POST", "/default/queues/news/claim", "")
	top := func(query string) (got door.Top) {
		t.Helper()
		r.want(200, "GET", "/-/top?"+query, "").json(t, &got)
		return got
	}
	got := top("sort=ready&max=1")
	if len(got.Queues) != 1 || got.Count != 3 || got.Queues[0].Name != "default/jobs" || got.Queues[0].Ready != 2 ||
		got.Queues[0].Oldest <= 0 || got.Over != 0 {
		t.Errorf("by ready: %+v", got)
	}
	if len(got.Components) != 1 || got.Components[0].Retried != 2 || got.Components[0].InFlight != 3 ||
		len(got.Doors) != 1 || got.Doors[0].Connections < 1 {
		t.Errorf("components and doors: %+v %+v", got.Components, got.Doors)
	}
	if want := (door.TopTotal{Ready: 2, Claimed: 1}); got.Total != want {
		t.Errorf("in all %+v, not %+v", got.Total, want)
	}
	if p := got.Process; p == nil || p.Heap == 0 || p.Goroutines < 1 || p.Journal == 0 || p.Segments < 0 {
		t.Errorf("the process: %+v", p)
	}
	if got = top("queue=default/quiet&queue=default/none&queue=default/jobs&sort=name"); got.Count != 2 ||
		len(got.Queues) != 2 || got.Queues[0].Name != "default/jobs" || len(got.Components) != 1 ||
		got.Total.Ready != 2 {
		t.Errorf("those that were named: %+v", got)
	}
	if got = top("filter=NEW"); len(got.Queues) != 1 || got.Queues[0].Claimed != 1 || len(got.Components) != 0 {
		t.Errorf("filtered: %+v", got)
	}
	r.secret = "reader-secret"
	if got = top("sort=name"); len(got.Queues) != 1 || got.Count != 1 || got.Queues[0].Name != "default/news" ||
		len(got.Components)+len(got.Doors) != 0 || got.Process != nil || got.Total != (door.TopTotal{Claimed: 1}) {
		t.Errorf("a reader sees %+v", got)
	}
	r.refused("bad-request", "GET", "/-/top?sort=weight", "")
	r.refused("bad-request", "GET", "/-/top?max=1001", "")
	if got = top("queue=default/jobs"); got.Count != 0 {
		t.Errorf("a reader who names a queue sees %+v", got)
	}
	r.refused("bad-request", "GET", "/-/top?"+strings.Repeat("queue=a&", door.MaxTopQueues+1), "")
	r.secret = ""
	r.refused("unauthenticated", "GET", "/-/top", "")
}

func TestRatesOfTopAreOfTheTimeSinceTheLookBefore(t *testing.T) {
	var sent atomic.Uint64
	r := start(t, settings{components: func() []pipeline.NodeStats {
		return []pipeline.NodeStats{{Name: "hook", Kind: pipeline.KindSink, Delivered: sent.Load()}}
	}})
	r.want(201, "PUT", "/default/queues/news", "")
	var first, again, next door.Top
	r.want(200, "GET", "/-/top", "").json(t, &first)
	r.want(200, "POST", "/default/queues/news/messages", `{"messages":[{"body":"one"},{"body":"two"}]}`)
	sent.Store(300)
	r.want(200, "GET", "/-/top", "").json(t, &again)
	if !again.Time.Equal(first.Time) {
		t.Errorf("it looked at all queues twice within %v", again.Time.Sub(first.Time))
	}
	r.server.AgeTop(2)
	r.want(200, "GET", "/-/top", "").json(t, &next)
	near := func(got, want float64) bool { return got > want*0.5 && got <= want }
	if q := next.Queues[0]; next.Over < 2 || !near(q.In, 1) || q.Out != 0 || !near(next.Components[0].Out, 150) ||
		!near(next.Total.In, 1) {
		t.Errorf("over %v s: %+v %+v", next.Over, q, next.Components)
	}
}
