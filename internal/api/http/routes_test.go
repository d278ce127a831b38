package http_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestAQueueIsCreatedShownAlteredAndDeleted(t *testing.T) {
	r := start(t, settings{})
	definition := `{"max_attempts": 5, "lease": "10s", "labels": {"team": "news"}}`
	r.want(201, "PUT", "/default/queues/news", definition)
	r.want(200, "PUT", "/default/queues/news", definition)

	p := r.refused("exists", "PUT", "/default/queues/news", `{"max_attempts": 6}`)
	if len(p.Differences) == 0 || p.Differences[0] != (door.Difference{Field: "max_attempts", Have: "5", Wanted: "6"}) {
		t.Errorf("differences: %+v", p.Differences)
	}

	var s door.Stats
	r.want(200, "PATCH", "/default/queues/news", `{"max_attempts": 7, "retention": 3600}`).json(t, &s)
	d := s.Definition
	if d.MaxAttempts != 7 || d.Retention != door.Duration(time.Hour) || d.Lease != door.Duration(10*time.Second) ||
		d.Labels["team"] != "news" {
		t.Errorf("altered: %+v", d)
	}
	r.want(200, "PATCH", "/default/queues/news", `{"labels": {"owner": "ann"}}`).json(t, &s)
	if got := s.Definition.Labels; len(got) != 1 && got["owner"] != "ann" {
		t.Errorf("labels: %v", got)
	}
	if got := r.stats("news"); got.Name != "default/news" || got.Definition.MaxAttempts != 7 {
		t.Errorf("stats: %+v", got)
	}
	r.want(204, "DELETE", "/default/queues/news", "")
	r.refused("not-found", "GET", "/default/queues/news", "")
	r.refused("not-found", "DELETE", "/default/queues/news", "")
	r.refused("not-found", "PATCH", "/default/queues/news", `{}`)
}

func TestQueuesAreListedByPage(t *testing.T) {
	r := start(t, settings{store: queue.Options{Namespaces: map[string][]string{"default": {"local"}}}})
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		r.want(201, "PUT", "/default/queues/"+name, "")
		r.want(201, "PUT", "/default/topics/"+name, "")
	}
	r.want(201, "PUT", "/other/queues/x", "")
	for _, kind := range []string{"queues", "topics"} {
		var got []string
		pages := 0
		for after := ""; ; pages++ {
			var page map[string]json.RawMessage
			r.want(200, "GET", "/local/"+kind+"?max=2&after="+after, "").json(t, &page)
			var items []struct{ Name string }
			if err := json.Unmarshal(page[kind], &items); err != nil {
				t.Fatal(err)
			}
			for _, it := range items {
				got = append(got, it.Name)
			}
			after = ""
			if page["next"] == nil {
				break
			}
			if err := json.Unmarshal(page["next"], &after); err != nil {
				t.Fatal(err)
			}
		}
		if want := "default/a default/b default/c default/d default/e"; strings.Join(got, " ") != want || pages != 2 {
			t.Errorf("%s: %v in %d pages", kind, got, pages+1)
		}
	}
	if got := string(r.want(200, "GET", "/nothing/queues", "").body); got != `{"queues":[]}`+"\n" {
		t.Errorf("empty namespace: %s", got)
	}
}

func TestATopicFansOutToItsSubscriptions(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/topics/events", `{"labels": {"a": "b"}}`)
	r.want(200, "PUT", "/default/topics/events", `{"labels": {"a": "b"}}`)
	r.want(201, "PUT", "/default/topics/events/subscriptions/all", "")
	r.want(201, "PUT", "/default/topics/events/subscriptions/loud", `{"filter": "level >= 3"}`)
	r.want(200, "PUT", "/default/topics/events/subscriptions/all", "")
	r.want(200, "POST", "/default/topics/events/messages",
		`{"messages": [{"body": "quiet", "attributes": {"level": 1}}, {"body": "loud", "attributes": {"level": 3}}]}`)
	if all, loud := r.stats("all"), r.stats("loud"); all.Ready != 2 || loud.Ready != 1 ||
		loud.Definition.Topic != "default/events" {
		t.Errorf("all %+v, loud %+v", all, loud)
	}
	var s door.TopicStats
	r.want(200, "GET", "/default/topics/events", "").json(t, &s)
	if s.Name != "default/events" || len(s.Subscriptions) != 2 || s.Published != 2 || s.Dropped != 0 ||
		s.Labels["a"] != "b" {
		t.Errorf("topic: %+v", s)
	}
	r.want(204, "DELETE", "/default/topics/events/subscriptions/loud", "")
	r.refused("not-found", "DELETE", "/default/topics/events/subscriptions/loud", "")
	r.refused("not-found", "GET", "/default/queues/loud", "")
	r.refused("bad-request", "PUT", "/default/topics/events/subscriptions/x", `{"topic": "other"}`)
	r.refused("not-found", "PUT", "/default/topics/nothing/subscriptions/x", "")
	r.want(204, "DELETE", "/default/topics/events", "")
	r.refused("not-found", "GET", "/default/topics/events", "")
	r.refused("not-found", "DELETE", "/default/topics/events", "")
	if got := r.stats("all"); got.Ready != 2 {
		t.Errorf("the subscription's messages went with the topic: %+v", got)
	}
}

func TestAPublishThatNobodyHearsSaysSo(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/topics/lone", "")
	if got := string(r.want(200, "POST", "/default/topics/lone/messages",
		`{"messages": [{"body": "x"}, {"body": "y"}]}`).body); strings.Count(got, `"unheard":true`) != 2 {
		t.Errorf("answered %s", got)
	}
	if got := string(r.want(200, "GET", "/metrics", "").body); !strings.Contains(got,
		`hikyaku_topic_dropped_total{topic="default/lone"} 2`) {
		t.Errorf("metrics:\n%s", got)
	}
}

func TestAMessageComesOutAsItWasPut(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	for _, c := range []struct{ name, put, want string }{
		{"text", `{"body": "飛脚"}`, `"body":"飛脚"`},
		{"text that is valid base64", `{"body_base64": "aGVsbG8="}`, `"body":"hello"`},
		{"bytes", `{"body_base64": "/wD+"}`, `"body_base64":"/wD+"`},
		{"json", `{"json": {"b": 1.50, "a": [1, null]}}`, `"body":"{\"b\":1.50,\"a\":[1,null]}"`},
		{"null", `{"json": null}`, `"body":"null"`},
		{"nothing", `{}`, `"body":""`},
		{"attributes",
			`{"attributes": {"s": "x", "i": -3, "u": 18446744073709551615, "f": 2.0, "b": true, "n": null, "y": {"base64": "/w=="}, "d": {"decimal": "1.50"}}}`,
			`"attributes":{"b":true,"d":{"decimal":"1.50"},"f":2.0,"i":-3,"n":null,"s":"x","u":18446744073709551615,"y":{"base64":"/w=="}}`},
		{"key and dedup", `{"key": "k", "dedup": "d1"}`, `"key":"k"`},
		{"id", `{"id": "01890a5d-ac96-774b-bcce-b302099a8057"}`, `"id":"01890a5d-ac96-774b-bcce-b302099a8057"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var put door.PutResult
			r.want(200, "POST", "/default/queues/q/messages", c.put).json(t, &put)
			for _, how := range []string{"peek", "claim"} {
				var raw []byte
				if how == "peek" {
					raw = r.want(200, "GET", "/default/queues/q/messages?ready=true", "").body
				} else {
					raw = r.want(200, "POST", "/default/queues/q/claim", `{}`).body
				}
				if !strings.Contains(string(raw), c.want) || !strings.Contains(string(raw), put.ID) {
					t.Errorf("%s of %s is %s, want %s", how, c.put, raw, c.want)
				}
				var list claimedList
				if err := json.Unmarshal(raw, &list); err != nil || len(list.Messages) != 1 {
					t.Fatalf("%v: %s", err, raw)
				}
				if how == "claim" {
					r.want(200, "POST", "/default/settle", `{"settlements": [{"token": "`+list.Messages[0].Token+`"}]}`)
				}
			}
		})
	}
	if got := r.stats("q"); got.Messages != 0 || got.Totals.Done != 9 {
		t.Errorf("in the end: %+v", got)
	}
}

func TestARawBodyIsTakenAsItIs(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	r.want(200, "POST", "/default/queues/q/messages?key=k&attribute=lang=ja&attribute=eq=a=b&delay=0&expires_in=1h",
		"{not json", "Content-Type", "text/plain; charset=utf-8")
	r.want(200, "POST", "/default/queues/q/messages", "\xff\x00", "Content-Type", "application/octet-stream")
	got := r.claim("q", `{"max": 10}`)
	if len(got) != 2 || *got[0].Body != "{not json" || got[0].Key != "k" || got[0].Expires == nil ||
		*got[1].BodyBase64 != "/wA=" {
		t.Fatalf("%+v", got)
	}
	if v, ok := got[0].Attributes.Get("eq"); !ok || v.AsString() != "a=b" {
		t.Errorf("attributes: %v", got[0].Attributes)
	}
	for _, query := range []string{"delay=x", "delay=-1s", "expires_in=1y", "not_before=today", "expires=never",
		"attribute=lang", "id=1", "keys=k",
		"delay=1s&not_before=2030-01-01T00:00:00Z"} {
		r.refused("bad-request", "POST", "/default/queues/q/messages?"+query, "x", "Content-Type", "text/plain")
	}
	for _, form := range []string{"application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text//"} {
		r.refused("bad-content-type", "POST", "/default/queues/q/messages", "x", "Content-Type", form)
	}
}

func TestRowsArePutAndClaimedAsObjects(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/rows",
		`{"columns": ["id varchar(20) not null", "n int unsigned not null", "raw blob"]}`)
	r.want(200, "POST", "/default/queues/rows/messages", `{"json": {"id": "a", "n": 7, "raw": "/w=="}}`)
	p := r.refused("mismatch", "POST", "/default/queues/rows/messages", `{"json": {"id": "a", "n": "seven"}}`)
	if p.Column != "n" {
		t.Errorf("column: %+v", p)
	}
	r.refused("mismatch", "POST", "/default/queues/rows/messages", `{"body": "no object"}`)
	got := r.claim("rows", `{"where": "n >= 7 and id = 'a'"}`)
	if len(got) != 1 {
		t.Fatal(got)
	}
	var row map[string]any
	if err := json.Unmarshal(got[0].JSON, &row); err != nil || row["id"] != "a" || row["n"] != 7.0 ||
		row["raw"] != "/w==" {
		t.Errorf("%v: %s", err, got[0].JSON)
	}
	p = r.refused("bad-condition", "POST", "/default/queues/rows/claim", `{"where": "n >= 7 and ide = 'a'"}`)
	if p.Position == nil || p.Position.Column != 12 || !strings.Contains(p.Position.Pretty, "^") {
		t.Errorf("position: %+v", p.Position)
	}
}
