package http_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/access"
	door "github.com/hikyaku/hikyaku/internal/api/http"
)

var team = []access.User{
	{Name: "boss", Secret: "boss-secret",
		Grants: []access.Grant{{Can: []string{"put", "take", "admin"}, On: []string{"*"}}}},
	{Name: "writer", Secret: "writer-secret", Grants: []access.Grant{{Can: []string{"put"}, On: []string{"news*"}}}},
	{Name: "reader", Secret: "reader-secret", Grants: []access.Grant{{Can: []string{"take"}, On: []string{"news*"}}}},
	{Name: "keeper", Secret: "keeper-secret", Grants: []access.Grant{{Can: []string{"admin"}, On: []string{"news*"}}}},
	{Name: "nobody", Secret: "nobody-secret"},
}

func TestEachRouteAsksForItsGrant(t *testing.T) {
	r := start(t, settings{users: team})
	as := func(user string) { r.secret = user + "-secret" }
	reset := func() {
		as("boss")
		r.do("PUT", "/default/queues/news", "")
		r.do("PUT", "/default/queues/other", "")
		r.do("PUT", "/default/topics/news_t", "")
		r.do("DELETE", "/default/snapshots/news_new", "")
		r.do("DELETE", "/default/snapshots/new", "")
		r.do("PUT", "/default/snapshots/news_s", `{"queue": "news"}`)
		r.do("PUT", "/default/snapshots/of_news", `{"queue": "news"}`)
	}
	for _, c := range []struct {
		method, path, body string
		may                string // the users who may
	}{
		{"PUT", "/default/queues/news", ``, "boss keeper"},
		{"GET", "/default/queues/news", ``, "boss keeper reader writer"},
		{"PATCH", "/default/queues/news", `{}`, "boss keeper"},
		{"PATCH", "/default/queues/news", `{"dead_letter": "other"}`, "boss"},
		{"PATCH", "/default/queues/news", `{"dead_letter": "news_dead"}`, "boss"},
		{"DELETE", "/default/queues/news", ``, "boss keeper"},
		{"POST", "/default/queues/news/messages", `{}`, "boss writer"},
		{"GET", "/default/queues/news/messages", ``, "boss reader"},
		{"POST", "/default/queues/news/claim", `{}`, "boss reader"},
		{"POST", "/default/claim", `{"from": [{"queue": "news"}]}`, "boss reader"},
		{"POST", "/default/claim", `{"from": [{"queue": "news"}, {"queue": "other"}]}`, "boss"},
		{"POST", "/default/queues/news/purge", ``, "boss keeper"},
		{"POST", "/default/queues/news/replay", `{}`, "boss keeper"},
		{"POST", "/default/queues/news/replay", `{"to": "other"}`, "boss"},
		{"POST", "/default/queues/news/seek", `{"time": "2026-01-02T03:04:05Z"}`, "boss keeper"},
		{"POST", "/default/queues/news/seek", `{"snapshot": "news_s"}`, "boss keeper"},
		{"POST", "/default/queues/news/seek", `{"snapshot": "of_news"}`, "boss"}, // keeper knows of no such name
		{"PUT", "/default/snapshots/news_new", `{"queue": "news"}`, "boss keeper"},
		{"PUT", "/default/snapshots/news_new", `{"queue": "other"}`, "boss"}, // admin on the snapshot and on the queue
		{"PUT", "/default/snapshots/new", `{"queue": "news"}`, "boss"},
		{"GET", "/default/snapshots/news_s", ``, "boss keeper reader writer"},
		{"GET", "/default/snapshots", ``, "boss keeper reader writer nobody"},
		{"DELETE", "/default/snapshots/news_s", ``, "boss keeper"},
		{"GET", "/default/queues/other", ``, "boss"},
		{"POST", "/default/queues/other/messages", `{}`, "boss"},
		{"PUT", "/default/topics/news_t", ``, "boss keeper"},
		{"GET", "/default/topics/news_t", ``, "boss keeper reader writer"},
		{"DELETE", "/default/topics/news_t", ``, "boss keeper"},
		{"POST", "/default/topics/news_t/messages", `{}`, "boss writer"},
		{"PUT", "/default/topics/news_t/subscriptions/news_s", ``, "boss"}, // admin on the queue and take on the topic
		{"PUT", "/default/queues/news_s2", `{"topic": "news_t"}`, "boss"},
		{"GET", "/metrics", ``, "boss"},
		{"GET", "/default/queues", ``, "boss keeper reader writer nobody"},
		{"GET", "/default/topics", ``, "boss keeper reader writer nobody"},
	} {
		for _, u := range team {
			reset()
			as(u.Name)
			got := r.do(c.method, c.path, c.body)
			allowed := strings.Contains(" "+c.may+" ", " "+u.Name+" ")
			if allowed != (got.status < 300) || !allowed && got.status != 403 {
				t.Errorf("%s %s %s as %s: status %d: %s", c.method, c.path, c.body, u.Name, got.status, got.body)
			}
		}
	}
	// A list shows what one may know of.
	for user, want := range map[string]int{"boss": 3, "reader": 2, "nobody": 0} {
		reset()
		as(user)
		var list struct{ Queues []door.Stats }
		r.want(200, "GET", "/default/queues", "").json(t, &list)
		n := 0
		for _, q := range list.Queues {
			if q.Name == "default/other" || q.Name == "default/news" {
				n++
			}
		}
		if want > 0 != (n > 0) || user == "reader" && n != 1 {
			t.Errorf("%s sees %d: %+v", user, len(list.Queues), list.Queues)
		}
	}
}

func TestStrangersAreTurnedAway(t *testing.T) {
	r := start(t, settings{users: team})
	for _, header := range []string{"", "Bearer", "Bearer wrong", "Bearer writer", "Basic Ym9zczp3cm9uZw==", "Digest x",
		"boss-secret"} {
		got := r.do("GET", "/default/queues", "", "Authorization", header)
		if p := got.problem(t); p.Status != 401 || len(got.header.Values("WWW-Authenticate")) != 2 {
			t.Errorf("%q: %+v", header, p)
		}
	}
	for _, header := range []string{"Bearer boss-secret", "bearer  boss-secret", "Basic Ym9zczpib3NzLXNlY3JldA=="} {
		r.want(200, "GET", "/default/queues", "", "Authorization", header)
	}
	for _, open := range []string{"/healthz", "/readyz", "/openapi.yaml"} {
		r.want(200, "GET", open, "")
	}
}

func TestATokenIsItsUsersAlone(t *testing.T) {
	r := start(t, settings{users: team})
	r.secret = "boss-secret"
	r.want(201, "PUT", "/default/queues/news", "")
	r.want(200, "POST", "/default/queues/news/messages", `{}`)
	c := r.claim("news", `{}`)
	settlement := fmt.Sprintf(`{"token": %q}`, c[0].Token)
	r.secret = "nobody-secret"
	for _, theirs := range []string{settlement, fmt.Sprintf(`{"token": %q}`, c[0].Token[:40])} {
		if got := r.settle(theirs); got[0].OK || got[0].Problem.Type != "urn:hikyaku:bad-token" {
			t.Errorf("%+v", got)
		}
	}
	r.secret = "boss-secret"
	if got := r.settle(settlement); !got[0].OK {
		t.Errorf("%+v", got)
	}
}

func TestWebPagesCannotUseTheDoor(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	put := func(header ...string) reply {
		return r.do("POST", "/default/queues/q/messages", "x",
			append([]string{"Content-Type", "text/plain"}, header...)...)
	}
	if got := put("Origin", "https://evil.example"); got.status != 403 {
		t.Errorf("other origin: %d", got.status)
	}
	if got := put("Sec-Fetch-Site", "cross-site"); got.status != 403 {
		t.Errorf("cross-site: %d", got.status)
	}
	if got := put("Sec-Fetch-Site", "same-origin"); got.status != 200 {
		t.Errorf("same origin: %d", got.status)
	}
	if s := r.stats("q"); s.Ready != 1 {
		t.Errorf("%+v", s)
	}
}

func TestWithoutUsersANameThatPointsHereIsNotTrusted(t *testing.T) {
	r := start(t, settings{})
	for host, want := range map[string]string{"evil.example": "403", "evil.example:7700": "403", "localhost:1": "200",
		"127.0.0.1": "200", "[::1]:80": "200", "10.0.0.1": "200"} {
		got := r.raw("GET /default/queues HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 "+want) {
			t.Errorf("%s: %.200s", host, got)
		}
	}
}
