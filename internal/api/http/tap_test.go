package http_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/access"
	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/mask"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// tapped is a tap under way, whose first line has come.
type tapped struct {
	t     *testing.T
	lines *bufio.Scanner
}

func (r *rig) tap(query string) *tapped {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), "GET", r.url+"/-/tap?"+query, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.secret)
	answer, err := r.http.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { answer.Body.Close() })
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	got := &tapped{r.t, lines}
	if l := got.next(); l.Tapping == nil {
		r.t.Fatalf("status %d, the first line is %s", answer.StatusCode, lines.Text())
	}
	return got
}

func (s *tapped) next() (l door.TapLine) {
	s.t.Helper()
	if !s.lines.Scan() {
		s.t.Fatalf("there is no line more: %v", s.lines.Err())
	}
	if err := json.Unmarshal(s.lines.Bytes(), &l); err != nil {
		s.t.Fatalf("%v: %s", err, s.lines.Text())
	}
	return l
}

func TestATapIsForThoseWhoMayLook(t *testing.T) {
	grant := func(on string, can ...string) []access.Grant { return []access.Grant{{Can: can, On: []string{on}}} }
	taps := new(journey.Taps)
	r := start(t, settings{taps: taps, store: queue.Options{Taps: taps},
		secrets: mask.New(mask.Secret{Text: "s3cret/key", Shown: "${KEY}"}), users: []access.User{
			{Name: "all", Secret: "all-secret", Grants: grant("*", "put", "take", "admin")},
			{Name: "reader", Secret: "reader-secret", Grants: grant("news", "take")},
			{Name: "writer", Secret: "writer-secret", Grants: grant("news", "put")},
		}, components: func() []pipeline.NodeStats { return []pipeline.NodeStats{{Name: "hook", Kind: "sink"}} }})
	r.secret = "all-secret"
	r.want(201, "PUT", "/default/queues/news", "")
	r.secret = "writer-secret"
	r.refused("forbidden", "GET", "/-/tap?of=news", "")
	r.secret = "reader-secret"
	r.refused("forbidden", "GET", "/-/tap?of=hook", "")
	r.refused("bad-request", "GET", "/-/tap", "")
	r.refused("bad-request", "GET", "/-/tap?of=news&max_body=1000000", "")
	if p := r.refused("bad-condition", "GET", "/-/tap?of=news&where=a+%3D", ""); p.Position == nil {
		t.Errorf("no place: %+v", p)
	}
	tap := r.tap("of=news&max_body=20&where=lang+%3D+'ja'")
	r.secret = "all-secret"
	r.refused("not-tapped", "GET", "/-/tap?of=nothing", "")
	hook := r.tap("of=hook")

	r.want(200, "POST", "/default/queues/news/messages", `{"body":"no","attributes":{"lang":"en"}}`)
	var put door.PutResult
	r.want(200, "POST", "/default/queues/news/messages",
		`{"body":"the key is s3cret/key, and more","attributes":{"lang":"ja","auth":"s3cret/key"}}`).json(t, &put)
	l := tap.next()
	if l.Hop != "accepted" || l.Queue != "default/news" || l.ID != put.ID || !l.Cut || l.Size != 31 ||
		*l.Content.Body != "the key is ${KEY}, a" {
		t.Errorf("put: %s", tap.lines.Text())
	}
	if v, _ := l.Content.Attributes.Get("auth"); v.AsString() != "${KEY}" {
		t.Errorf("an attribute is shown as %v", v)
	}
	claims := r.claim("news", `{"max":2}`)
	if l = tap.next(); l.Hop != "claimed" || l.ID != put.ID || l.Attempt != 1 {
		t.Errorf("claim: %s", tap.lines.Text())
	}
	for _, c := range claims {
		r.settle(`{"token": "` + c.Token + `"}`)
	}
	if l = tap.next(); l.Hop != "done" || l.ID != put.ID || l.Content != nil {
		t.Errorf("end: %s", tap.lines.Text())
	}

	taps.Tell(&journey.Note{Kind: journey.Answered, Place: journey.Place{Name: "hook"}, For: 5,
		Text: "rejected: s3cret/key is wrong"}, &message.Message{Body: []byte{0xff, 0}})
	if l = hook.next(); l.Step != "hook" || l.Text != "rejected: ${KEY} is wrong" || *l.Content.BodyBase64 != "/wA=" {
		t.Errorf("of a sink: %s", hook.lines.Text())
	}
}

func TestATapThatReadsNothingLosesEventsAndNobodyWaits(t *testing.T) {
	taps := new(journey.Taps)
	r := start(t, settings{taps: taps, store: queue.Options{Taps: taps}})
	r.want(201, "PUT", "/default/queues/news", "")
	tap := r.tap("of=news&max_body=32768")
	m := &message.Message{Body: []byte(strings.Repeat("x", 32<<10))}
	const told = 3000 // 94 MiB: more than connections and the tap hold
	for range told {
		taps.Tell(&journey.Note{Kind: journey.Accepted, Place: journey.Place{Namespace: "default", Name: "news"}}, m)
	}
	seen, lost := 0, 0
	for seen+lost < told {
		if l := tap.next(); l.Tapped != nil {
			seen++
		} else {
			lost += int(l.Dropped)
		}
	}
	if lost == 0 || seen == 0 || seen+lost != told {
		t.Errorf("%d seen, %d lost of %d", seen, lost, told)
	}
}

func TestATapEndsWhenTheServerStops(t *testing.T) {
	taps := new(journey.Taps)
	r := start(t, settings{taps: taps})
	r.want(201, "PUT", "/default/queues/news", "")
	tap := r.tap("of=default/news")
	if !taps.On() {
		t.Error("nobody taps")
	}
	if err := r.server.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l := tap.next(); l.Stopped == "" {
		t.Errorf("the last line is %s", tap.lines.Text())
	}
	if tap.lines.Scan() || taps.On() {
		t.Error("the tap goes on")
	}
}
