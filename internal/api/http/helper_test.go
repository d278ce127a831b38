package http_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/access"
	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/deployment"
	shared "github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/mask"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/push/dead"
	"github.com/hikyaku/hikyaku/internal/queue"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a door over a real store over a real journal.
type rig struct {
	t       *testing.T
	store   *queue.Store
	users   *access.Users
	server  *door.Server
	url     string
	http    *http.Client
	secret  string
	reports *reports
	traffic *shared.Traffic
}

type settings struct {
	busy   *shared.Busy // of all doors; nil: the door's own
	config door.Config
	store  queue.Options
	users  []access.User
	wrap   func(door.Store) door.Store
	ready  func(context.Context) error
	dead   map[string]*dead.Registry
	// campaigns gives the door a registry of them.
	campaigns bool
	push      door.Pusher
	reload    func(bool) (door.Reloaded, error)
	trace     *journey.Store

	components func() []pipeline.NodeStats
	describe   func(string) door.ComponentSettings
	functions  func(*queue.Store) *deployment.Registry
	taps       *journey.Taps
	secrets    mask.Masker
}

// reports are what a door told Options.Report.
type reports struct {
	mu   sync.Mutex
	errs []error
}

func (r *reports) add(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

func (r *reports) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, err := range r.errs {
		b.WriteString(err.Error() + "\n")
	}
	return b.String()
}

func openStore(t *testing.T, o queue.Options) *queue.Store {
	t.Helper()
	return openStoreOn(t, o, file.Options{Dir: t.TempDir(), Durability: journal.OS, SegmentBytes: 4 << 20})
}

func openStoreOn(t *testing.T, o queue.Options, on file.Options) *queue.Store {
	t.Helper()
	j, err := file.Open(t.Context(), on)
	if err != nil {
		t.Fatal(err)
	}
	o.Journal = j
	s, err := queue.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// start opens a door on a free port of loopback.
func start(t *testing.T, s settings) *rig {
	t.Helper()
	metrics := door.NewMetrics(3)
	traffic := shared.NewTraffic("http")
	if err := metrics.Register(traffic); err != nil {
		t.Fatal(err)
	}
	s.store.Observe = metrics.Settled
	r := &rig{t: t, store: openStore(t, s.store), reports: &reports{}, traffic: traffic}
	users, err := access.New(s.users)
	if err != nil {
		t.Fatal(err)
	}
	r.users = users
	if s.config.Listen == "" {
		s.config.Listen = "127.0.0.1:0"
	}
	var store door.Store = r.store
	if s.wrap != nil {
		store = s.wrap(store)
	}
	options := door.Options{
		Store: store, Users: users, Metrics: metrics, Traffic: traffic, Ready: s.ready, Busy: s.busy,
		Dead: func() map[string]*dead.Registry { return s.dead },
		Push: s.push, Reload: s.reload, Trace: s.trace, Report: r.reports.add,
		Describe:   s.describe,
		Components: s.components, Doors: map[string]*shared.Traffic{"http": traffic},
		Taps: s.taps, Secrets: func() mask.Masker { return s.secrets },
	}
	if s.functions != nil {
		options.Functions = s.functions(r.store)
	}
	if s.campaigns {
		if options.Campaigns, err = campaign.Open(t.Context(), r.store, nil); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := options.Campaigns.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	r.server, err = door.New(s.config, options)
	if err != nil {
		t.Fatal(err)
	}
	addr, err := r.server.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.url = "http://" + addr.String()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	r.http = &http.Client{Transport: transport}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := r.server.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return r
}

// reply is a whole answer.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (r reply) json(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal(r.body, into); err != nil {
		t.Fatalf("%v in %s", err, r.body)
	}
}

func (r reply) problem(t *testing.T) door.Problem {
	t.Helper()
	var p door.Problem
	r.json(t, &p)
	if got := r.header.Get("Content-Type"); got != "application/problem+json" || p.Status != r.status || p.Title == "" {
		t.Fatalf("status %d, %s is no problem: %s", r.status, got, r.body)
	}
	return p
}

// do sends a request and holds the answer to openapi.yaml. JSON is sent for bodies that begin like it.
func (r *rig) do(method, path, body string, header ...string) reply {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.secret != "" {
		req.Header.Set("Authorization", "Bearer "+r.secret)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	answer, err := r.http.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	conform(r.t, method, path, answer, data)
	return reply{answer.StatusCode, answer.Header, data}
}

// want is do with the status that is expected.
func (r *rig) want(status int, method, path, body string, header ...string) reply {
	r.t.Helper()
	got := r.do(method, path, body, header...)
	if got.status != status {
		r.t.Fatalf("%s %s: status %d, want %d: %s", method, path, got.status, status, got.body)
	}
	return got
}

// refused is do for a request that is refused in a certain way.
func (r *rig) refused(word, method, path, body string, header ...string) door.Problem {
	r.t.Helper()
	p := r.do(method, path, body, header...).problem(r.t)
	if p.Type != "urn:hikyaku:"+word {
		r.t.Errorf("%s %s %s: %+v, want %s", method, path, body, p, word)
	}
	return p
}

type claimedList struct {
	Messages []door.Claimed `json:"messages"`
}

func (r *rig) claim(queue, request string) []door.Claimed {
	r.t.Helper()
	var list claimedList
	r.want(200, "POST", "/default/queues/"+queue+"/claim", request).json(r.t, &list)
	return list.Messages
}

func (r *rig) stats(queue string) (s door.Stats) {
	r.t.Helper()
	r.want(200, "GET", "/default/queues/"+queue, "").json(r.t, &s)
	return s
}

// described is openapi.yaml with a router over it.
var described = sync.OnceValues(func() (routers.Router, error) {
	doc, err := loadDescription()
	if err != nil {
		return nil, err
	}
	return legacy.NewRouter(doc)
})

func loadDescription() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromFile("openapi.yaml")
	if err != nil {
		return nil, err
	}
	return doc, doc.Validate(context.Background())
}

// conform fails the test when an answer is not as openapi.yaml says.
func conform(t *testing.T, method, path string, answer *http.Response, data []byte) {
	t.Helper()
	router, err := described()
	if err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequest(method, path, nil)
	route, params, err := router.FindRoute(req)
	if err != nil {
		return // the test tries a path or a method that is not there
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route},
		Status:                 answer.StatusCode, Header: answer.Header, Body: io.NopCloser(bytes.NewReader(data)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true,
			ExcludeResponseBody: streamed(answer)},
	})
	if err != nil {
		t.Errorf("%s %s answered %d, not as described: %v\n%s", method, path, answer.StatusCode, err, data)
	}
}

func streamed(answer *http.Response) bool {
	t := answer.Header.Get("Content-Type")
	return t == "application/x-ndjson" || t == "application/yaml" || strings.HasPrefix(t, "text/plain")
}

// golden compares a text with a file under testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if string(want) != got {
		t.Errorf("%s differs (go test -update rewrites it):\n%s", path, got)
	}
}

// raw sends bytes and reads until the server closes the connection.
func (r *rig) raw(request string) string {
	r.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		r.t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(answer)
}
