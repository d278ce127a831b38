package http_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// bodies are those of the messages that a queue shows, in order.
func (r *rig) bodies(queue string) string {
	r.t.Helper()
	var list struct{ Messages []door.Peeked }
	r.want(200, "GET", "/default/queues/"+queue+"/messages", "").json(r.t, &list)
	var texts []string
	for _, m := range list.Messages {
		texts = append(texts, *m.Body)
	}
	return strings.Join(texts, " ")
}

// put puts a message by itself and returns the time at which it is in the queue.
func (r *rig) put(queue, body string) time.Time {
	r.t.Helper()
	r.want(200, "POST", "/default/queues/"+queue+"/messages", fmt.Sprintf(`{"body": %q}`, body))
	var list struct{ Messages []door.Peeked }
	r.want(200, "GET", "/default/queues/"+queue+"/messages", "").json(r.t, &list)
	return *list.Messages[len(list.Messages)-1].Time
}

// settleAll settles what can be claimed.
func (r *rig) settleAll(queue string) {
	r.t.Helper()
	for _, c := range r.claim(queue, `{"max": 100}`) {
		r.settle(fmt.Sprintf(`{"token": %q}`, c.Token))
	}
}

func (r *rig) seek(queue, to string) (s door.Sought) {
	r.t.Helper()
	r.want(200, "POST", "/default/queues/"+queue+"/seek", to).json(r.t, &s)
	return s
}

func TestAQueueWithAHistoryIsTakenToATime(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", `{"history": "1h", "exactly_once": true}`)
	first := r.put("q", "a")
	middle := r.put("q", "b")
	r.put("q", "c")
	if s := r.stats("q"); s.Definition.History != door.Duration(time.Hour) || !s.Definition.ExactlyOnce ||
		s.Past != 0 || s.PastFrom != nil {
		t.Errorf("before: %+v", s)
	}
	r.settleAll("q")
	if s := r.stats("q"); s.Messages != 0 || s.Past != 3 || s.PastBytes == 0 || s.PastFrom == nil ||
		!s.PastFrom.Equal(first) {
		t.Errorf("settled: %+v", s)
	}
	if got := r.seek("q", fmt.Sprintf(`{"time": %q}`, middle.Format(time.RFC3339Nano))); got != (door.Sought{Back: 2}) || r.bodies("q") != "b c" {
		t.Errorf("%+v, there are %s", got, r.bodies("q"))
	}
	held := r.claim("q", `{}`)[0]
	if got := r.seek("q", `{"time": "2999-01-01T00:00:00+09:00"}`); got != (door.Sought{Settled: 2}) ||
		r.bodies("q") != "" {
		t.Errorf("%+v, there are %s", got, r.bodies("q"))
	}
	if got := r.settle(fmt.Sprintf(`{"token": %q}`, held.Token)); got[0].OK ||
		got[0].Problem.Type != "urn:hikyaku:stale" {
		t.Errorf("a claim of what the seek settled: %+v", got)
	}
	for _, beginning := range []string{"0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z"} {
		if got := r.seek("q", fmt.Sprintf(`{"time": %q}`, beginning)); got != (door.Sought{Back: 3}) ||
			r.bodies("q") != "a b c" {
			t.Errorf("%s: %+v, there are %s", beginning, got, r.bodies("q"))
		}
		r.settleAll("q")
	}
	var s door.Stats
	r.want(200, "PATCH", "/default/queues/q", `{"history": "0s", "exactly_once": false}`).json(t, &s)
	if s.Definition.History != 0 || s.Definition.ExactlyOnce || s.Past != 0 {
		t.Errorf("without a history: %+v", s)
	}
}

func TestASnapshotIsTakenListedSoughtAndDeleted(t *testing.T) {
	r := start(t, settings{store: queue.Options{Namespaces: map[string][]string{"default": {"local"}}}})
	r.want(201, "PUT", "/default/queues/q", "")
	r.put("q", "a")
	r.put("q", "b")
	var sn door.Snapshot
	r.want(201, "PUT", "/local/snapshots/monday", `{"queue": "q", "life": "2h", "labels": {"why": "deploy"}}`).json(t,
		&sn)
	if sn.Name != "default/monday" || sn.Queue != "default/q" || sn.Labels["why"] != "deploy" || sn.Expires == nil ||
		sn.Expires.Sub(sn.Time) != 2*time.Hour {
		t.Errorf("%+v", sn)
	}
	r.settleAll("q")
	r.put("q", "c")
	r.settleAll("q")
	if got := r.seek("q", `{"snapshot": "local/monday"}`); got != (door.Sought{Back: 3}) || r.bodies("q") != "a b c" {
		t.Errorf("%+v, there are %s", got, r.bodies("q"))
	}
	r.want(200, "POST", "/default/queues/q/purge", "")
	if got := r.seek("q", `{"snapshot": "monday"}`); got != (door.Sought{Back: 3}) {
		t.Errorf("after a purge: %+v", got)
	}

	r.want(201, "PUT", "/default/snapshots/a", `{"queue": "default/q"}`)
	r.want(201, "PUT", "/default/snapshots/z", `{"queue": "q"}`)
	r.want(201, "PUT", "/other/snapshots/x", `{"queue": "default/q"}`)
	var page struct {
		Snapshots []door.Snapshot
		Next      string
	}
	r.want(200, "GET", "/default/snapshots?max=2", "").json(t, &page)
	if len(page.Snapshots) != 2 || page.Snapshots[0].Name != "default/a" || page.Next != "monday" {
		t.Errorf("the first page: %+v", page)
	}
	page.Next = ""
	r.want(200, "GET", "/default/snapshots?after=monday", "").json(t, &page)
	if len(page.Snapshots) != 1 || page.Snapshots[0].Name != "default/z" || page.Next != "" {
		t.Errorf("the second page: %+v", page)
	}
	if got := string(r.want(200, "GET", "/nothing/snapshots", "").body); got != `{"snapshots":[]}`+"\n" {
		t.Errorf("an empty namespace: %s", got)
	}

	var shown door.Snapshot
	r.want(200, "GET", "/default/snapshots/monday", "").json(t, &shown)
	if !shown.Time.Equal(sn.Time) || shown.Labels["why"] != "deploy" {
		t.Errorf("%+v", shown)
	}
	for _, n := range []string{"default/snapshots/a", "default/snapshots/z", "other/snapshots/x",
		"local/snapshots/monday"} {
		r.want(204, "DELETE", "/"+n, "")
	}
	r.settleAll("q")
	if s := r.stats("q"); s.Past != 0 || s.PastBytes != 0 {
		t.Errorf("nothing keeps the past any more: %+v", s)
	}
}

func TestASeekAndASnapshotThatCannotBeSayWhy(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	r.want(201, "PUT", "/default/queues/other", "")
	r.want(201, "PUT", "/default/topics/t", "")
	r.want(201, "PUT", "/default/snapshots/of_other", `{"queue": "other"}`)
	r.put("q", "a")
	status := map[string]int{"bad-request": 400, "bad-name": 400, "not-found": 404, "no-such-snapshot": 404,
		"snapshot-exists": 409, "bad-content-type": 415}
	for _, c := range []struct{ word, method, path, body, says string }{
		{"bad-request", "POST", "queues/q/seek", `{}`, "either to a time or to a snapshot"},
		{"bad-request", "POST", "queues/q/seek", `{"time": "2026-01-02T03:04:05Z", "snapshot": "of_other"}`,
			"either to a time or to a snapshot"},
		{"bad-content-type", "POST", "queues/q/seek", ``, "no Content-Type"},
		{"bad-request", "POST", "queues/q/seek", `{"time": "yesterday"}`, "is no time"},
		{"bad-request", "POST", "queues/q/seek", `{"snapshot": "of_other"}`,
			"snapshot of_other is of queue other, not of q"},
		{"no-such-snapshot", "POST", "queues/q/seek", `{"snapshot": "gone"}`, "there is no snapshot gone"},
		{"bad-name", "POST", "queues/q/seek", `{"snapshot": "a b"}`, ""},
		{"not-found", "POST", "queues/gone/seek", `{"snapshot": "of_other"}`, "no such queue or topic: gone"},
		{"not-found", "POST", "queues/t/seek", `{"snapshot": "of_other"}`, "t is a topic, not a queue"},
		{"not-found", "POST", "queues/t/seek", `{"time": "2026-01-02T03:04:05Z"}`, "t is a topic, not a queue"},
		{"bad-request", "PUT", "snapshots/s", `{}`, "none is named"},
		{"bad-request", "PUT", "snapshots/s", `{"queue": "q", "life": "-1h"}`, "no duration"},
		{"bad-name", "PUT", "snapshots/s", `{"queue": "a b"}`, ""},
		{"not-found", "PUT", "snapshots/s", `{"queue": "gone"}`, "no such queue or topic: gone"},
		{"not-found", "PUT", "snapshots/s", `{"queue": "t"}`, "t is a topic, not a queue"},
		{"snapshot-exists", "PUT", "snapshots/of_other", `{"queue": "q"}`, "of_other"},
		{"no-such-snapshot", "GET", "snapshots/gone", ``, "there is no snapshot gone"},
		{"no-such-snapshot", "DELETE", "snapshots/gone", ``, "there is no snapshot gone"},
		{"bad-request", "PUT", "queues/new", `{"history": "-1s"}`, "no duration"},
		{"bad-request", "GET", "snapshots?queue=q", ``, "no parameter"},
	} {
		if p := r.refused(c.word, c.method, "/default/"+c.path, c.body); !strings.Contains(p.Detail, c.says) ||
			p.Status != status[c.word] {
			t.Errorf("%s %s %s: %+v", c.method, c.path, c.body, p)
		}
	}
	if got := r.bodies("q"); got != "a" {
		t.Errorf("there are %s", got)
	}
}
