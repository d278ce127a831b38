package http_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/internal/access"
	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestAJourneyIsForThoseWhoMayTakeFromItsQueue(t *testing.T) {
	grant := func(on string, can ...string) []access.Grant { return []access.Grant{{Can: can, On: []string{on}}} }
	trace := journey.New(journey.Options{})
	r := start(t, settings{trace: trace, store: queue.Options{Trace: trace}, users: []access.User{
		{Name: "all", Secret: "all-secret", Grants: grant("*", "put", "take", "admin")},
		{Name: "reader", Secret: "reader-secret", Grants: grant("news", "take")},
		{Name: "writer", Secret: "writer-secret", Grants: grant("news", "put")},
	}})
	r.secret = "all-secret"
	r.want(201, "PUT", "/default/queues/news", "")
	var put door.PutResult
	r.want(200, "POST", "/default/queues/news/messages", `{"body":"hello"}`).json(t, &put)
	r.want(200, "POST", "/default/queues/news/claim", "")
	path := "/-/trace/" + put.ID
	look := func(secret string, want ...string) {
		t.Helper()
		r.secret = secret
		if len(want) == 0 {
			r.refused("not-traced", "GET", path, "")
			return
		}
		var j door.Journey
		r.want(200, "GET", path, "").json(t, &j)
		var got []string
		for _, h := range j.Hops {
			if h.Queue == "default/news" || h.Step != "" {
				got = append(got, h.Hop)
			}
		}
		if len(got) != len(want) || j.ID != put.ID || got[len(got)-1] != want[len(want)-1] {
			t.Errorf("%s sees %v, not %v", secret, got, want)
		}
	}
	look("all-secret", "accepted", "durable", "claimed")
	look("reader-secret", "accepted", "durable", "claimed")
	look("writer-secret")

	j, _ := trace.Find(parsed(t, put.ID))
	at := j.Steps[len(j.Steps)-1].Time.UnixNano() + 1
	trace.Keep(&journey.Note{ID: j.ID, Kind: journey.Answered, Time: at, Place: journey.Place{Name: "hook"}, For: 5})
	look("reader-secret", "accepted", "durable", "claimed", "answered")
	trace.Keep(&journey.Note{ID: j.ID, Kind: journey.Accepted, Time: at + 1,
		Place: journey.Place{Namespace: "default", Name: "private"}})
	look("all-secret", "accepted", "durable", "claimed", "answered")
	look("reader-secret", "accepted", "durable", "claimed") // what went on elsewhere may be of the other queue

	slowest := func(secret, query string, want int) {
		t.Helper()
		r.secret = secret
		var s door.Slowest
		r.want(200, "GET", "/-/trace?"+query, "").json(t, &s)
		if len(s.Slowest) != want {
			t.Errorf("%s sees %v", secret, s)
		}
	}
	slowest("all-secret", "sink=hook", 1)
	slowest("reader-secret", "sink=hook", 0)
	slowest("reader-secret", "queue=news&last=1m&slowest=5", 1)
	slowest("writer-secret", "", 0)
	r.refused("forbidden", "GET", "/-/trace?queue=news", "")
	r.refused("bad-request", "GET", "/-/trace/7", "")
	r.refused("bad-request", "GET", "/-/trace?last=yesterday", "")
}

func parsed(t *testing.T, text string) message.ID {
	t.Helper()
	id, err := message.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
