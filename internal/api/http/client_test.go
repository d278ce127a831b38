package http_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func (r *rig) client(secret access.Secret) *door.Client {
	r.t.Helper()
	c, err := door.NewClient(door.ClientConfig{URL: r.url, Secret: secret})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(c.Close)
	return c
}

func TestTheClientCanDoEverything(t *testing.T) {
	r := start(t, settings{})
	ctx, c := t.Context(), r.client("")
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	q := queue.Name{Namespace: "shop", Name: "büro+50%"}
	must("ready", c.Ready(ctx))
	created, err := c.CreateQueue(ctx, q, door.Definition{MaxAttempts: 3})
	must("create", err)
	again, err := c.CreateQueue(ctx, q, door.Definition{MaxAttempts: 3})
	must("create again", err)
	if !created || again {
		t.Errorf("created %v, again %v", created, again)
	}
	s, err := c.AlterQueue(ctx, q, map[string]any{"lease": "5m"})
	must("alter", err)
	if s.Definition.Lease != door.Duration(5*time.Minute) || s.Definition.MaxAttempts != 3 {
		t.Errorf("altered: %+v", s.Definition)
	}
	put, err := c.Put(ctx, q, door.NewMessage([]byte("one")), door.NewMessage([]byte{0xff}))
	must("put", err)
	if len(put) != 2 || put[1].Sequence != 2 {
		t.Errorf("put: %+v", put)
	}
	if none, err := c.Put(ctx, q); none != nil || err != nil {
		t.Errorf("put nothing: %v, %v", none, err)
	}
	peeked, err := c.Peek(ctx, q, door.PeekRequest{Where: "attempts = 0", After: 1, Max: 5, Ready: true})
	must("peek", err)
	if len(peeked) != 1 || *peeked[0].BodyBase64 != "/w==" {
		t.Errorf("peek: %+v", peeked)
	}
	claims, err := c.Claim(ctx, q, door.ClaimRequest{Max: 1, Wait: door.Duration(time.Minute)})
	must("claim", err)
	if body, err := claims[0].Bytes(); err != nil || string(body) != "one" {
		t.Errorf("claim: %s, %v", body, err)
	}
	more, err := c.ClaimFrom(ctx, "shop", door.ClaimFromRequest{From: []door.From{{Queue: q.Name}}})
	must("claim from", err)
	extended, err := c.Extend(ctx, door.Duration(time.Minute), claims[0].Token, more[0].Token)
	must("extend", err)
	settled, err := c.Settle(ctx, door.Settlement{Token: claims[0].Token},
		door.Settlement{Token: more[0].Token, As: door.Dead, Reason: "no"})
	must("settle", err)
	for _, res := range append(extended, settled...) {
		if !res.OK || res.Problem != nil {
			t.Errorf("%+v", res)
		}
	}
	dead := queue.Name{Namespace: q.Namespace, Name: q.Name + "_dead"}
	if did, err := c.Replay(ctx, dead, door.ReplayRequest{}); err != nil || did.Moved != 1 {
		t.Errorf("replay: %+v, %v", did, err)
	}
	if n, err := c.Purge(ctx, q); err != nil || n != 1 {
		t.Errorf("purge: %d, %v", n, err)
	}
	if all, err := c.Queues(ctx, "shop"); err != nil || len(all) != 2 || all[0].Name != q.String() {
		t.Errorf("queues: %+v, %v", all, err)
	}
	kept := queue.Name{Namespace: "shop", Name: "before+50%"}
	taken, err := c.CreateSnapshot(ctx, kept, door.SnapshotRequest{Queue: q.Name, Life: door.Duration(time.Hour)})
	must("snapshot", err)
	if shown, err := c.Snapshot(ctx, kept); err != nil || taken.Queue != q.String() || !shown.Time.Equal(taken.Time) {
		t.Errorf("snapshot: %+v, then %+v, %v", taken, shown, err)
	}
	if _, err := c.CreateSnapshot(ctx, kept, door.SnapshotRequest{Queue: q.Name}); !errors.Is(err, queue.ErrSnapshot) {
		t.Errorf("a second snapshot of that name: %v", err)
	}
	if all, err := c.Snapshots(ctx, "shop"); err != nil || len(all) != 1 || all[0].Name != kept.String() {
		t.Errorf("snapshots: %+v, %v", all, err)
	}
	if did, err := c.Seek(ctx, q, door.SeekRequest{Snapshot: kept.Name}); err != nil || did != (door.Sought{}) {
		t.Errorf("seek: %+v, %v", did, err)
	}
	must("delete snapshot", c.DeleteSnapshot(ctx, kept))
	if err := c.DeleteSnapshot(ctx, kept); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("delete a snapshot that is gone: %v", err)
	}
	topic := queue.Name{Namespace: "shop", Name: "orders"}
	created, err = c.CreateTopic(ctx, topic, map[string]string{"a": "b"})
	must("create topic", err)
	subscribed, err := c.Subscribe(ctx, topic, "all", door.Definition{})
	must("subscribe", err)
	if !created || !subscribed {
		t.Error("not new")
	}
	if _, err := c.Publish(ctx, topic, door.NewMessage(nil)); err != nil {
		t.Error(err)
	}
	if ts, err := c.TopicStats(ctx, topic); err != nil || ts.Published != 1 || len(ts.Subscriptions) != 1 {
		t.Errorf("topic: %+v, %v", ts, err)
	}
	if all, err := c.Topics(ctx, "shop"); err != nil || len(all) != 1 {
		t.Errorf("topics: %+v, %v", all, err)
	}
	must("unsubscribe", c.Unsubscribe(ctx, topic, "all"))
	must("delete topic", c.DeleteTopic(ctx, topic))
	must("delete", c.DeleteQueue(ctx, q))
	_, err = c.Stats(ctx, q)
	var p *door.Problem
	if !errors.Is(err, queue.ErrNotFound) || !errors.As(err, &p) || p.Hint == "" ||
		!strings.Contains(err.Error(), "("+p.Hint+")") {
		t.Errorf("stats of a deleted queue: %v", err)
	}
	if errors.Is(err, queue.ErrStale) {
		t.Error("it is another error too")
	}
}

func TestTheClientSaysWhatItCannotReach(t *testing.T) {
	c, err := door.NewClient(door.ClientConfig{URL: "127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:1") ||
		!strings.Contains(err.Error(), "hikyaku serve") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Ready(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"ftp://x", "http://", "http://a b"} {
		if _, err := door.NewClient(door.ClientConfig{URL: bad}); err == nil {
			t.Errorf("%s is an address", bad)
		}
	}
}

func TestTheClientKnowsAStranger(t *testing.T) {
	answer := ""
	status := 200
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	}))
	defer s.Close()
	c, err := door.NewClient(door.ClientConfig{URL: s.URL + "/"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	q := queue.Name{Namespace: "default", Name: "q"}
	for _, x := range []struct {
		status int
		answer string
	}{{200, "<html>"}, {404, "404 page not found"}, {500, `{"type": "about:blank"}`}} {
		status, answer = x.status, x.answer
		if _, err := c.Stats(t.Context(), q); err == nil ||
			!strings.Contains(err.Error(), "answer of a hikyaku server") {
			t.Errorf("%+v: %v", x, err)
		}
		if _, err := c.PutStream(t.Context(), q, messages("a"), nil); err == nil ||
			!strings.Contains(err.Error(), "answer of a hikyaku server") {
			t.Errorf("stream, %+v: %v", x, err)
		}
	}
	status, answer = 200, `{"line": 1, "id": "x"}`+"\n"
	if sum, err := c.PutStream(t.Context(), q, messages("a"), nil); !errors.Is(err, door.ErrCutOff) || sum.Put != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
}
