package http_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/push/dead"
)

var team = []access.User{
	{Name: "boss", Secret: "boss-secret",
		Grants: []access.Grant{{Can: []string{"put", "take", "admin"}, On: []string{"*"}}}},
	{Name: "writer", Secret: "writer-secret", Grants: []access.Grant{{Can: []string{"put"}, On: []string{"news*"}}}},
	{Name: "reader", Secret: "reader-secret", Grants: []access.Grant{{Can: []string{"take"}, On: []string{"news*"}}}},
	{Name: "keeper", Secret: "keeper-secret", Grants: []access.Grant{{Can: []string{"admin"}, On: []string{"news*"}}}},
	{Name: "pusher", Secret: "pusher-secret", Grants: []access.Grant{{Can: []string{"push"}, On: []string{"news*"}}}},
	{Name: "sender", Secret: "sender-secret",
		Grants: []access.Grant{{Can: []string{"put", "push"}, On: []string{"news*"}}}},
	{Name: "nobody", Secret: "nobody-secret"},
}

// phones is a sink of the name news that takes every push.
type phones struct{}

func (phones) PushSinks() []string { return []string{"news"} }

func (phones) Push(_ context.Context, _ string, _ time.Time, ms []*message.Message) ([]component.Answer, error) {
	return make([]component.Answer, len(ms)), nil
}

// tracedID is a message whose journey is remembered: it is in the queue news.
const tracedID = "01a20020-9b8a-7e28-8ef4-d8815065c06a"

// everyone may make the calls whose answers show, or change, only what the user may know of.
const everyone = "boss keeper reader writer pusher sender nobody"

// grants is the table of who may call what: a row of each route, and more where a body or a name matters.
var grants = []struct {
	method, path, body string
	may                string // the users who may
	refusal            int    // for the others; 0: 403
}{
	{"PUT", "/default/queues/news", ``, "boss keeper", 0},
	{"GET", "/default/queues/news", ``, "boss keeper reader writer pusher sender", 0},

	{"PATCH", "/default/queues/news", `{}`, "boss keeper", 0},
	{"PATCH", "/default/queues/news", `{"dead_letter": "other"}`, "boss", 0},
	{"PATCH", "/default/queues/news", `{"dead_letter": "news_dead"}`, "boss", 0},
	{"DELETE", "/default/queues/news", ``, "boss keeper", 0},
	{"POST", "/default/queues/news/messages", `{}`, "boss writer sender", 0},
	{"GET", "/default/queues/news/messages", ``, "boss reader", 0},
	{"POST", "/default/queues/news/claim", `{}`, "boss reader", 0},
	{"POST", "/default/claim", `{"from": [{"queue": "news"}]}`, "boss reader", 0},
	{"POST", "/default/claim", `{"from": [{"queue": "news"}, {"queue": "other"}]}`, "boss", 0},
	{"POST", "/default/queues/news/purge", ``, "boss keeper", 0},
	{"POST", "/default/queues/news/replay", `{}`, "boss keeper", 0},
	{"POST", "/default/queues/news/replay", `{"to": "other"}`, "boss", 0},
	{"POST", "/default/queues/news/seek", `{"time": "2026-01-02T03:04:05Z"}`, "boss keeper", 0},
	{"POST", "/default/queues/news/seek", `{"snapshot": "news_s"}`, "boss keeper", 0},
	{"POST", "/default/queues/news/seek", `{"snapshot": "of_news"}`, "boss", 0}, // keeper knows of no such name
	{"PUT", "/default/snapshots/news_new", `{"queue": "news"}`, "boss keeper", 0},
	{"PUT", "/default/snapshots/news_new", `{"queue": "other"}`, "boss", 0}, // admin on the snapshot and on the queue
	{"PUT", "/default/snapshots/new", `{"queue": "news"}`, "boss", 0},
	{"GET", "/default/snapshots/news_s", ``, "boss keeper reader writer pusher sender", 0},
	{"GET", "/default/snapshots", ``, everyone, 0},
	{"DELETE", "/default/snapshots/news_s", ``, "boss keeper", 0},
	{"GET", "/default/queues/other", ``, "boss", 0},
	{"POST", "/default/queues/other/messages", `{}`, "boss", 0},
	{"PUT", "/default/topics/news_t", ``, "boss keeper", 0},
	{"GET", "/default/topics/news_t", ``, "boss keeper reader writer pusher sender", 0},
	{"DELETE", "/default/topics/news_t", ``, "boss keeper", 0},
	{"POST", "/default/topics/news_t/messages", `{}`, "boss writer sender", 0},
	{"PUT", "/default/topics/news_t/subscriptions/news_s", ``, "boss", 0}, // admin on the queue and take on the topic
	{"PUT", "/default/queues/news_s2", `{"topic": "news_t"}`, "boss", 0},
	{"GET", "/metrics", ``, "boss", 0},
	{"GET", "/default/queues", ``, everyone, 0},
	{"GET", "/default/topics", ``, everyone, 0},
	{"DELETE", "/default/topics/news_t/subscriptions/news_of", ``, "boss keeper", 0},
	{"POST", "/default/settle", `{"settlements": [{"token": "x"}]}`, everyone, 0}, // whose token it is not is told in the result
	{"POST", "/default/extend", `{"tokens": ["x"], "lease": "1m"}`, everyone, 0},
	{"POST", "/default/push/news", `{"attributes": {"token": "a"}, "json": {}}`, "pusher sender", 0},
	{"POST", "/default/push/other", `{"attributes": {"token": "a"}, "json": {}}`, "", 0},
	{"POST", "/elsewhere/push/news", `{"attributes": {"token": "a"}, "json": {}}`, "", 0},
	{"GET", "/default/campaigns", ``, everyone, 0},
	{"POST", "/default/campaigns", `{"queue": "news", "json": {}}`, "sender", 0}, // put and push on the queue
	{"POST", "/default/campaigns", `{"queue": "other", "json": {}}`, "", 0},
	// Who may not push to a campaign's queue does not know of the campaign.
	{"GET", "/default/campaigns/CAMPAIGN", ``, "pusher sender", 404},
	{"POST", "/default/campaigns/CAMPAIGN/pause", ``, "pusher sender", 404},
	{"POST", "/default/campaigns/CAMPAIGN/resume", ``, "pusher sender", 404},
	{"POST", "/default/campaigns/CAMPAIGN/cancel", ``, "pusher sender", 404},
	{"POST", "/-/reload", `{}`, "boss", 0},
	{"GET", "/-/top", ``, everyone, 0}, // it shows what one may know of
	{"GET", "/-/components/news", ``, "boss", 0},
	{"GET", "/-/functions", ``, everyone, 0}, // it shows what one may know of
	{"GET", "/-/functions/news", ``, "boss keeper reader writer pusher sender", 0},
	{"GET", "/-/functions/news/log", ``, "boss keeper reader writer pusher sender", 0},
	{"POST", "/-/functions/news/invoke", `{}`, "boss writer sender", 0},
	{"GET", "/-/past", ``, "", 400}, // of what?
	{"GET", "/-/past?of=news", ``, "boss keeper reader writer pusher sender", 0},
	{"GET", "/-/past?of=news&of=other", ``, "boss", 0},
	{"GET", "/-/past?what=all", ``, "boss", 0},
	{"GET", "/-/past?what=door&of=http", ``, "boss", 0},
	{"GET", "/default/may/news", ``, everyone, 0}, // it tells each what is his
	{"GET", "/-/top", ``, everyone, 0},            // it shows what one may know of
	{"GET", "/-/trace", ``, everyone, 0},
	{"GET", "/-/trace?queue=news", ``, "boss reader", 0},
	{"GET", "/-/trace/" + tracedID, ``, "boss reader", 404},
	{"GET", "/-/push/dead", ``, "boss", 0},
	{"GET", "/-/push/dead/news", ``, "boss", 0},
	{"POST", "/-/push/dead/news/find", `{"token": "a"}`, "boss", 0},
	{"POST", "/-/push/dead/news/revive", `{"all": true}`, "boss", 0},
}

// braces are the parts of a route that a path fills in.
var braces = regexp.MustCompile(`\{[^}]*\}`)

func TestEachRouteAsksForItsGrant(t *testing.T) {
	trace := journey.New(journey.Options{})
	trace.Begin(&journey.Note{ID: parsed(t, tracedID), Time: time.Now().UnixNano(),
		Place: journey.Place{Namespace: "default", Name: "news"}})
	r := start(t, settings{users: team, campaigns: true, push: phones{}, trace: trace,
		functions:  functions(t, "news"),
		components: func() []pipeline.NodeStats { return []pipeline.NodeStats{{Name: "news", Kind: "sink"}} },
		reload:     func(bool) (door.Reloaded, error) { return door.Reloaded{}, nil },
		dead:       map[string]*dead.Registry{"news": registry(t, 1)}})
	as := func(user string) { r.secret = user + "-secret" }
	reset := func() (campaign string) {
		as("boss")
		r.do("PUT", "/default/queues/news", "")
		r.do("PUT", "/default/queues/other", "")
		r.do("PUT", "/default/topics/news_t", "")
		r.do("DELETE", "/default/queues/news_of", "") // it outlives its topic
		r.do("PUT", "/default/topics/news_t/subscriptions/news_of", "")
		r.do("DELETE", "/default/snapshots/news_new", "")
		r.do("DELETE", "/default/snapshots/new", "")
		r.do("PUT", "/default/snapshots/news_s", `{"queue": "news"}`)
		r.do("PUT", "/default/snapshots/of_news", `{"queue": "news"}`)
		as("sender")
		var started door.StartedCampaign
		r.want(200, "POST", "/default/campaigns", `{"queue": "news", "json": {}}`).json(t, &started)
		return started.Campaign.ID
	}
	for _, c := range grants {
		for _, u := range team {
			path := strings.Replace(c.path, "CAMPAIGN", reset(), 1)
			as(u.Name)
			got := r.do(c.method, path, c.body)
			allowed := slices.Contains(strings.Fields(c.may), u.Name)
			if allowed != (got.status < 300) || !allowed && got.status != cmp.Or(c.refusal, 403) {
				t.Errorf("%s %s %s as %s: status %d: %s", c.method, c.path, c.body, u.Name, got.status, got.body)
			}
		}
	}
	missing := door.Routes()
	for _, open := range []string{"/healthz", "/livez", "/readyz", "/openapi.yaml"} {
		delete(missing, "GET "+open)
	}
	delete(missing, "GET /-/tap") // it has no end: TestATapIsForThoseWhoMayLook
	for _, c := range grants {
		maps.DeleteFunc(missing, func(route, _ string) bool {
			pattern := regexp.MustCompile("^" + braces.ReplaceAllString(route, "[^/]+") + "$")
			return pattern.MatchString(c.method + " " + c.path)
		})
	}
	for route, operation := range missing {
		t.Errorf("%s (%s) has no row in grants: who may call it?", route, operation)
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

// TestNamesThatAUserMayNotKnowAreNotShown: neither in what is shown of a topic, nor by which error comes first.
func TestNamesThatAUserMayNotKnowAreNotShown(t *testing.T) {
	r := start(t, settings{users: team})
	as := func(user string) { r.secret = user + "-secret" }
	as("boss")
	for _, path := range []string{"/default/topics/news_t", "/default/topics/news_t/subscriptions/news_of",
		"/default/topics/news_t/subscriptions/secret", "/default/topics/other", "/default/queues/news"} {
		r.want(201, "PUT", path, "")
	}
	for user, want := range map[string]int{"boss": 2, "writer": 1, "keeper": 1} {
		as(user)
		var one door.TopicStats
		r.want(200, "GET", "/default/topics/news_t", "").json(t, &one)
		var list struct{ Topics []door.TopicStats }
		r.want(200, "GET", "/default/topics", "").json(t, &list)
		if len(one.Subscriptions) != want || len(list.Topics[0].Subscriptions) != want {
			t.Errorf("%s sees %v, and in the list %v", user, one.Subscriptions, list.Topics)
		}
	}
	as("keeper")
	for _, topic := range []string{"other", "none"} {
		r.want(403, "PUT", "/default/topics/"+topic+"/subscriptions/news_2", "")
		r.want(403, "DELETE", "/default/topics/"+topic+"/subscriptions/news", "")
	}
	as("boss")
	r.want(201, "PUT", "/default/topics/other/subscriptions/news_other", "")
	as("keeper") // it sees in the queue of which topic it is
	r.want(204, "DELETE", "/default/topics/other/subscriptions/news_other", "")
}
