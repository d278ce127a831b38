package http_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	door "github.com/hikyaku/hikyaku/internal/api/http"
	common "github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestADoorSurvivesStartingAndClosingTwice(t *testing.T) {
	store := openStore(t, queue.Options{})
	s, err := door.New(door.Config{Listen: "127.0.0.1:0"}, door.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	addr, err := s.Start(t.Context())
	if err != nil || addr == nil || s.Addr() != addr {
		t.Fatalf("%v, %v", addr, err)
	}
	if again, err := s.Start(t.Context()); !errors.Is(err, common.ErrStarted) || again != addr {
		t.Errorf("%v, %v", again, err)
	}
	other, err := door.New(door.Config{Listen: addr.String()}, door.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Start(t.Context()); err == nil || !strings.Contains(err.Error(), addr.String()) {
		t.Errorf("a taken port: %v", err)
	}
	for range 2 {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Start(t.Context()); !errors.Is(err, common.ErrClosed) {
		t.Errorf("%v", err)
	}
	if err := other.Close(t.Context()); err != nil {
		t.Errorf("closing what never listened: %v", err)
	}
}

func TestADoorThatIsOffDoesNotListen(t *testing.T) {
	s, err := door.New(door.Config{Off: true, Listen: "0.0.0.0:1"},
		door.Options{Store: openStore(t, queue.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	if addr, err := s.Start(t.Context()); addr != nil || err != nil {
		t.Errorf("%v, %v", addr, err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAWrongConfigIsRefused(t *testing.T) {
	store := openStore(t, queue.Options{})
	for _, c := range []struct {
		config door.Config
		want   string
	}{
		{door.Config{Listen: "7700"}, "listen"},
		{door.Config{TLS: access.TLS{Cert: "x"}}, "tls"},
		{door.Config{MaxBodyBytes: -1}, "max_body_bytes"},
		{door.Config{StallTimeout: -1}, "stall_timeout"},
	} {
		if _, err := door.New(c.config, door.Options{Store: store}); !errors.Is(err, door.ErrConfig) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.config, err)
		}
	}
	if _, err := door.New(door.Config{Listen: ":7700"}, door.Options{Store: store}); !errors.Is(err,
		access.ErrExposed) {
		t.Errorf("%v", err)
	}
	if _, err := door.New(door.Config{}, door.Options{}); !errors.Is(err, door.ErrConfig) {
		t.Errorf("%v", err)
	}
}

func TestClosingLetsWaitingClaimsReturn(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	got := make(chan []door.Claimed)
	go func() { got <- r.claim("q", `{"wait": "60s"}`) }()
	waitFor(t, func() bool { return r.stats("q").Waiters == 1 })
	if err := r.server.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if c := <-got; len(c) != 0 {
		t.Errorf("%+v", c)
	}
}

// stuckStore never answers a put.
type stuckStore struct {
	door.Store
	entered chan struct{}
	release chan struct{}
}

func (s *stuckStore) DeleteQueue(context.Context, queue.Name) error {
	close(s.entered)
	<-s.release
	return nil
}

func TestClosingGivesUpWhenItsContextEnds(t *testing.T) {
	stuck := &stuckStore{entered: make(chan struct{}), release: make(chan struct{})}
	s, err := door.New(door.Config{Listen: "127.0.0.1:0"},
		door.Options{Store: stuck.over(openStore(t, queue.Options{}))})
	if err != nil {
		t.Fatal(err)
	}
	addr, err := s.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cut := make(chan error)
	go func() {
		req, _ := http.NewRequestWithContext(t.Context(), "DELETE", "http://"+addr.String()+"/default/queues/q", nil)
		answer, err := new(http.Transport).RoundTrip(req)
		if err == nil {
			answer.Body.Close()
		}
		cut <- err
	}()
	<-stuck.entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("close: %v", err)
	}
	if err := <-cut; err == nil {
		t.Error("the connection was not cut")
	}
	close(stuck.release)
}

func (s *stuckStore) over(store door.Store) door.Store {
	s.Store = store
	return s
}

func TestReadinessFollowsWhatItIsAskedToFollow(t *testing.T) {
	var state error
	r := start(t, settings{ready: func(context.Context) error { return state }})
	if got := string(r.want(200, "GET", "/readyz", "").body); got != `{"status":"ready"}`+"\n" {
		t.Error(got)
	}
	state = errors.New("pipelines are starting")
	if p := r.refused("not-ready", "GET", "/readyz", ""); p.Status != 503 || p.Detail != "pipelines are starting" {
		t.Errorf("%+v", p)
	}
	if got := string(r.want(200, "GET", "/healthz", "").body); got != `{"status":"ok"}`+"\n" {
		t.Error(got)
	}
}

// TestReadyMeansThatAPutWouldBeTaken: and live means that the process answers, whatever the store takes.
func TestReadyMeansThatAPutWouldBeTaken(t *testing.T) {
	r := start(t, settings{store: queue.Options{OnDemand: true, Limits: queue.Limits{Messages: 1}}})
	r.want(200, "GET", "/readyz", "")
	r.want(200, "POST", "/default/queues/q/messages", `{}`)
	r.refused("queue-full", "POST", "/default/queues/q/messages", `{}`)
	if p := r.refused("not-ready", "GET", "/readyz", ""); p.Status != 503 || p.Reason != "queue-full" ||
		!strings.Contains(p.Detail, "limit of 1 messages") {
		t.Errorf("%+v", p)
	}
	if got := string(r.want(200, "GET", "/livez", "").body); got != `{"status":"ok"}`+"\n" {
		t.Error(got)
	}
	r.want(200, "POST", "/default/queues/q/purge", "")
	r.want(200, "GET", "/readyz", "")
}

// TestADiskThatDoesNotAnswerIsNotReady: with the reason, for as long as it does not.
func TestADiskThatDoesNotAnswerIsNotReady(t *testing.T) {
	disk := faultfs.New()
	store := openStoreOn(t, queue.Options{OnDemand: true},
		file.Options{Dir: "log", FS: disk, Patience: 50 * time.Millisecond, SegmentBytes: 64 << 10})
	r := start(t, settings{wrap: func(door.Store) door.Store { return store }})
	r.want(200, "POST", "/default/queues/q/messages", `{}`)
	r.want(200, "GET", "/readyz", "")
	answer := disk.Hang(func(op faultfs.Op) bool { return op.Kind == "sync" })
	defer answer()
	put := make(chan reply, 1)
	go func() { put <- r.do("POST", "/default/queues/q/messages", `{}`) }()
	waittest.Until(t, "it is not ready", func() bool { return r.do("GET", "/readyz", "").status == 503 })
	if p := r.refused("not-ready", "GET", "/readyz", ""); p.Reason != "stalled" || p.Hint == "" {
		t.Errorf("%+v", p)
	}
	r.want(200, "GET", "/livez", "")
	answer()
	if got := <-put; got.status != 200 {
		t.Errorf("the put that waited: %d %s", got.status, got.body)
	}
	waittest.Until(t, "it is ready again", func() bool { return r.do("GET", "/readyz", "").status == 200 })
}

func TestConnectionsAreBounded(t *testing.T) {
	r := start(t, settings{config: door.Config{MaxConnections: 1}})
	first := &http.Client{Transport: &http.Transport{}}
	answer, err := first.Get(r.url + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	second := make(chan reply)
	go func() { second <- r.do("GET", "/healthz", "") }()
	select {
	case <-second:
		t.Error("a second connection was served beside the first")
	default:
	}
	first.CloseIdleConnections() // makes room
	if got := <-second; got.status != 200 {
		t.Errorf("%+v", got)
	}
}

func TestTheHandlerWorksWithoutAListener(t *testing.T) {
	s, err := door.New(door.Config{}, door.Options{Store: openStore(t, queue.Options{OnDemand: true})})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ contentType, body string }{{"application/json", `{"body": "a"}`},
		{"application/x-ndjson", "{}\n{}\n"}, {"text/plain", "x"}} {
		req := httptest.NewRequest("POST", "http://localhost/default/queues/q/messages", strings.NewReader(x.body))
		req.Header.Set("Content-Type", x.contentType)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, req)
		if w.Code != 200 {
			t.Errorf("%s: %d %s", x.contentType, w.Code, w.Body)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
