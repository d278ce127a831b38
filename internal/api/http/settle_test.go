package http_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	door "github.com/hikyaku/hikyaku/internal/api/http"
)

type resultList struct {
	Results []door.TokenResult `json:"results"`
}

func (r *rig) settle(settlements string) []door.TokenResult {
	r.t.Helper()
	var list resultList
	r.want(200, "POST", "/default/settle", `{"settlements": [`+settlements+`]}`).json(r.t, &list)
	return list.Results
}

func TestClaimsAreSettledEachByItself(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	r.want(200, "POST", "/default/queues/q/messages",
		`{"messages": [{"body": "0"}, {"body": "1"}, {"body": "2"}, {"body": "3"}]}`)
	c := r.claim("q", `{"max": 4}`)
	if len(c) != 4 {
		t.Fatal(c)
	}
	got := r.settle(fmt.Sprintf(`{"token": %q}, {"token": "nonsense"}, {"token": %q, "as": "back"}, {"token": %q, "as": "dead", "reason": "broken"},
		{"token": %q, "as": "back", "delay": "1h"}, {"token": %q, "as": "done"}`,
		c[0].Token, c[1].Token, c[2].Token, c[3].Token, c[0].Token))
	want := []string{"", "bad-token", "", "", "", "stale"}
	for i, res := range got {
		problem := ""
		if res.Problem != nil {
			problem = strings.TrimPrefix(res.Problem.Type, "urn:hikyaku:")
		}
		if problem != want[i] || res.OK != (problem == "") {
			t.Errorf("result %d: %+v, want %q", i, res, want[i])
		}
	}
	if s := r.stats("q"); s.Ready != 1 || s.Delayed != 1 || s.Totals.Done != 1 || s.Totals.Dead != 1 {
		t.Errorf("stats: %+v", s)
	}
	again := r.claim("q", `{}`)
	if len(again) != 1 || *again[0].Body != "1" || again[0].Attempt != 2 {
		t.Errorf("put back: %+v", again)
	}
	dead := r.claim("q_dead", `{}`)
	if len(dead) != 1 || *dead[0].Body != "2" || dead[0].ID != c[2].ID {
		t.Fatalf("dead: %+v", dead)
	}
	if d := dead[0].Death; d == nil || d.Reason != "broken" || d.Queue != "default/q" || d.Attempts != 1 {
		t.Errorf("death: %+v", d)
	}
}

func TestSettlementsThatMakeNoSenseAreRefused(t *testing.T) {
	r := start(t, settings{})
	for _, c := range []string{`{"token": "x", "as": "gone"}`, `{"token": "x", "delay": "1s"}`,
		`{"token": "x", "as": "back", "reason": "y"}`} {
		if got := r.settle(c); len(got) != 1 || got[0].OK || got[0].Problem.Type != "urn:hikyaku:bad-request" {
			t.Errorf("%s: %+v", c, got)
		}
	}
	r.refused("bad-request", "POST", "/default/settle", `{"settlements": []}`)
	r.refused("bad-request", "POST", "/default/settle", ``, "Content-Type", "application/json")
	r.refused("bad-request", "POST", "/default/settle", `{"settlements": [`+strings.Repeat(`{"token": ""},`, 10_000)+
		`{"token": ""}]}`)
	r.refused("bad-request", "POST", "/default/extend", `{"tokens": [], "lease": 1}`)
	r.refused("bad-request", "POST", "/default/extend", `{"tokens": ["x"]}`)
	r.refused("bad-request", "POST", "/default/extend", `{"tokens": ["x"], "lease": "200h"}`)
}

func TestALeaseIsExtended(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	r.want(200, "POST", "/default/queues/q/messages", `{}`)
	c := r.claim("q", `{"lease": "60s"}`)
	var list resultList
	r.want(200, "POST", "/default/extend", fmt.Sprintf(`{"tokens": [%q, "x"], "lease": "10m"}`, c[0].Token)).json(t,
		&list)
	if len(list.Results) != 2 || !list.Results[0].OK || list.Results[1].Problem == nil {
		t.Errorf("%+v", list)
	}
	var peeked struct{ Messages []door.Peeked }
	r.want(200, "GET", "/default/queues/q/messages", "").json(t, &peeked)
	if p := peeked.Messages[0]; p.State != "claimed" || p.Until == nil || p.Until.Sub(c[0].Deadline) < 8*time.Minute {
		t.Errorf("%+v", p)
	}
}

func TestPeekShowsWithoutClaiming(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	var all strings.Builder
	for i := range 130 {
		fmt.Fprintf(&all, `,{"body": "%d", "attributes": {"n": %d}}`, i, i)
	}
	r.want(200, "POST", "/default/queues/q/messages", `{"messages": [`+all.String()[1:]+`]}`)
	r.want(200, "POST", "/default/queues/q/messages", `{"body": "later", "delay": "1h"}`)
	for _, c := range []struct {
		query             string
		count, first, end uint64
	}{
		{"", 100, 1, 100},
		{"?max=1000", 131, 1, 131},
		{"?max=1000&ready=true", 130, 1, 130},
		{"?after=127&max=2", 2, 128, 129},
		{"?where=n+%3E+120&no_body=true", 9, 122, 130},
		{"?where=n+%3E+1000", 0, 0, 0},
	} {
		var got struct{ Messages []door.Peeked }
		r.want(200, "GET", "/default/queues/q/messages"+c.query, "").json(t, &got)
		n := len(got.Messages)
		if uint64(n) != c.count || n > 0 &&
			(got.Messages[0].Sequence != c.first || got.Messages[n-1].Sequence != c.end) {
			t.Errorf("%s: %d messages", c.query, n)
		}
		if strings.Contains(c.query, "no_body") && got.Messages[0].Body != nil {
			t.Errorf("%s: %+v", c.query, got.Messages[0])
		}
	}
	for _, bad := range []string{"?max=x", "?max=10001", "?after=-1", "?ready=maybe", "?limit=3"} {
		r.refused("bad-request", "GET", "/default/queues/q/messages"+bad, "")
	}
	r.refused("bad-condition", "GET", "/default/queues/q/messages?where=n+%3E", "")
	if s := r.stats("q"); s.Ready != 130 || s.Delayed != 1 {
		t.Errorf("%+v", s)
	}
}

func TestPurgeAndReplay(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	r.want(201, "PUT", "/default/queues/elsewhere", "")
	r.want(200, "POST", "/default/queues/q/messages", `{"messages": [{"body": "0"}, {"body": "1"}, {"body": "2"}]}`)
	for _, c := range r.claim("q", `{"max": 3}`) {
		r.settle(fmt.Sprintf(`{"token": %q, "as": "dead", "reason": "why not"}`, c.Token))
	}
	replay := func(request string) (did door.Replayed) {
		r.want(200, "POST", "/default/queues/q_dead/replay", request).json(t, &did)
		return did
	}
	if did := replay(`{"max": 1}`); did.Moved != 1 {
		t.Errorf("%+v", did)
	}
	if did := replay(`{"to": "elsewhere", "max": 1}`); did.Moved != 1 {
		t.Errorf("%+v", did)
	}
	if did := replay(``); did.Moved != 1 {
		t.Errorf("%+v", did)
	}
	if q, e := r.stats("q"), r.stats("elsewhere"); q.Ready != 2 || e.Ready != 1 {
		t.Errorf("%+v, %+v", q, e)
	}
	r.refused("bad-request", "POST", "/default/queues/q_dead/replay", `{"max": -1}`)
	r.refused("bad-condition", "POST", "/default/queues/q_dead/replay", `{"where": "="}`)
	r.refused("bad-name", "POST", "/default/queues/q_dead/replay", `{"to": "a b"}`)
	if got := string(r.want(200, "POST", "/default/queues/q/purge", "").body); got != `{"purged":2}`+"\n" {
		t.Error(got)
	}
	r.refused("not-found", "POST", "/default/queues/none/purge", "")
}
