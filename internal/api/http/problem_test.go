package http_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// failingStore fails every put in a certain way.
type failingStore struct {
	door.Store
	err error
}

func (s *failingStore) Put(context.Context, queue.Name, []message.Message) ([]queue.PutResult, error) {
	if s.err == nil {
		panic("a defect with secrets")
	}
	return nil, s.err
}

func TestEveryErrorOfTheStoreIsAProblem(t *testing.T) {
	failing := &failingStore{}
	r := start(t, settings{wrap: func(s door.Store) door.Store { failing.Store = s; return failing }})
	r.want(201, "PUT", "/default/queues/q", "")
	name := queue.Name{Namespace: "default", Name: "q"}
	var text strings.Builder
	for _, c := range []struct {
		err    error
		status int
		retry  string
	}{
		{fmt.Errorf("put: %w: %q", queue.ErrBadName, "a b"), 400, ""},
		{fmt.Errorf("%w: %q", queue.ErrBadToken, "x"), 400, ""},
		{fmt.Errorf("%w: q", queue.ErrNotFound), 404, ""},
		{&queue.DifferentError{Name: name,
			Differences: []queue.Difference{{Field: "lease", Have: "30s", Wanted: "1m0s"}}}, 409, ""},
		{fmt.Errorf("%w: monday", queue.ErrSnapshot), 409, ""},
		{queue.ErrStale, 410, ""},
		{fmt.Errorf("%w: 70 MB", queue.ErrTooLarge), 413, ""},
		{fmt.Errorf("%w: queue q: lease is -1s", queue.ErrDefinition), 422, ""},
		{fmt.Errorf("%w: queue q: %w", queue.ErrMismatch, &message.ColumnError{Column: "n", Reason: "cannot be null"}),
			422, ""},
		{&queue.FullError{Name: name, Bound: "messages", Limit: 10}, 429, "1"},
		{&queue.FullError{Bound: "bytes", Limit: 10}, 429, "1"},
		{queue.ErrTooManyWaiters, 503, "1"},
		{fmt.Errorf("append: %w", queue.ErrNoRoom), 507, "10"},
		{fmt.Errorf("append: %w", queue.ErrRefused), 503, "1"},
		{queue.ErrClosed, 503, "1"},
		{queue.ErrUnavailable, 503, "10"},
		{fmt.Errorf("%w: %w", queue.ErrUnavailable, journal.ErrLost), 503, "1"},
		{context.DeadlineExceeded, 504, "1"},
		{errors.New("disk /dev/sda1 said something private"), 500, ""},
	} {
		failing.err = c.err
		got := r.want(c.status, "POST", "/default/queues/q/messages", `{}`)
		got.problem(t)
		if h := got.header.Get("Retry-After"); h != c.retry {
			t.Errorf("%v: Retry-After %q", c.err, h)
		}
		fmt.Fprintf(&text, "%s", got.body)
	}
	golden(t, "problems.ndjson", text.String())
	if strings.Contains(text.String(), "private") || !strings.Contains(r.reports.text(), "private") {
		t.Errorf("an internal error went to the client, not to the report: %s", r.reports.text())
	}
	// The store said that it is over: the door is not ready any more.
	r.refused("not-ready", "GET", "/readyz", "")
	r.want(200, "GET", "/healthz", "")
}

func TestProblemsOfConditionsShowThePlace(t *testing.T) {
	_, err := condition.Parse("enqueued_at >= 15 and\nlang = = 'ja'")
	p, ok := door.ProblemOf(fmt.Errorf("%w: %w", queue.ErrCondition, err))
	if !ok || p.Status != 400 || p.Position == nil || p.Position.Line != 2 || p.Position.Column != 8 ||
		!strings.Contains(p.Position.Pretty, "^") {
		t.Errorf("%+v, %+v", p, p.Position)
	}
	p, ok = door.ProblemOf(fmt.Errorf("%w: queue q: filter: %w", queue.ErrDefinition, err))
	if !ok || p.Status != 422 || p.Position == nil || p.Position.Line != 2 {
		t.Errorf("%+v", p)
	}
}

func TestAPanicIsOneRequestsOwn(t *testing.T) {
	failing := &failingStore{}
	r := start(t, settings{wrap: func(s door.Store) door.Store { failing.Store = s; return failing }})
	r.want(201, "PUT", "/default/queues/q", "")
	p := r.refused("internal", "POST", "/default/queues/q/messages", `{}`)
	if strings.Contains(p.Detail, "secrets") || !strings.Contains(r.reports.text(), "a defect with secrets") {
		t.Errorf("%+v, %s", p, r.reports.text())
	}
	r.want(200, "POST", "/default/queues/q/claim", `{}`)
}

func TestBadRequestsSayWhatAndWhere(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	var text strings.Builder
	for _, body := range []string{
		`{"body": "a"`, `{"body": 'a'}`, "{\n  \"body\": 5\n}", `{"boody": "a"}`, `{"body": "a"} {"body": "b"}`, `[]`,
		`"text"`, `null x`,
		"{\"body\": \"\xff\"}", `{"body": "a", "json": 1}`, `{"body_base64": "?"}`, `{"id": "7"}`, `{"delay": "soon"}`,
		`{"delay": -1}`,
		`{"delay": 1, "not_before": "2030-01-01T00:00:00Z"}`, `{"expires": "2030-01-01T00:00:00Z", "expires_in": 5}`,
		`{"not_before": "tomorrow"}`,
		`{"attributes": {"a": [1]}}`, `{"attributes": {"a": 1, "a": 2}}`, `{"attributes": {"a": {"x": "y"}}}`,
		`{"attributes": 3}`,
		`{"messages": []}`, `{"messages": [{"body": "a"}, {"body_base64": "?"}]}`, `{"messages": [], "body": "a"}`, ` `,
	} {
		p := r.refused("bad-request", "POST", "/default/queues/q/messages", body)
		fmt.Fprintf(&text, "%q\n    %s\n", body, p.Detail)
		if p.Position != nil {
			fmt.Fprintf(&text, "    at %d:%d\n", p.Position.Line, p.Position.Column)
		}
		if p.Hint != "" {
			fmt.Fprintf(&text, "    hint: %s\n", p.Hint)
		}
	}
	golden(t, "bad_requests.txt", text.String())
	if s := r.stats("q"); s.Totals.Put != 0 {
		t.Errorf("something was put: %+v", s)
	}
}

func TestWhatIsNotThereIsAProblemToo(t *testing.T) {
	r := start(t, settings{})
	r.refused("no-such-path", "GET", "/", "")
	r.refused("no-such-path", "GET", "/a/b/c/d/e/f", "")
	r.refused("no-such-path", "GET", "/default/queues/", "")
	got := r.do("DELETE", "/default/queues", "")
	if p := got.problem(t); p.Status != 405 || got.header.Get("Allow") != "GET" {
		t.Errorf("%+v, Allow: %s", p, got.header.Get("Allow"))
	}
	got = r.do("POST", "/default/queues/q", "")
	if got.status != 405 || got.header.Get("Allow") != "DELETE, GET, PATCH, PUT" {
		t.Errorf("%d, Allow: %s", got.status, got.header.Get("Allow"))
	}
	r.refused("bad-name", "PUT", "/default/queues/a%20b", "")
	r.refused("bad-name", "PUT", "/default/queues/a%2Fb", "")
	r.refused("bad-name", "GET", "/"+strings.Repeat("x", 300)+"/queues", "")
	r.refused("bad-content-type", "PUT", "/default/queues/q", "x", "Content-Type", "text/plain")
	r.refused("bad-request", "PUT", "/default/queues/q", `{"colums": []}`)
	r.refused("bad-definition", "PUT", "/default/queues/q", `{"columns": ["what"]}`)
	r.refused("bad-definition", "PUT", "/default/queues/q", `{"max_attempts": -1}`)
	r.refused("bad-request", "PUT", "/default/queues/q", `{"max_attempts": "five"}`)
	p := r.refused("bad-definition", "PUT", "/default/queues/q", `{"topic": "t", "filter": "a >"}`)
	if p.Position == nil {
		t.Errorf("%+v", p)
	}
	if head, err := r.http.Head(r.url + "/healthz"); err != nil || head.StatusCode != 200 {
		t.Errorf("HEAD: %v, %v", head, err)
	}
}

func TestBodiesAreBounded(t *testing.T) {
	r := start(t, settings{config: door.Config{MaxBodyBytes: 1000}})
	r.want(201, "PUT", "/default/queues/q", "")
	long := strings.Repeat("x", 1001)
	r.refused("too-large", "POST", "/default/queues/q/messages", long, "Content-Type", "text/plain")
	r.want(200, "POST", "/default/queues/q/messages", long[1:], "Content-Type", "text/plain")

	// Without a length it is found out while reading.
	req, _ := http.NewRequestWithContext(t.Context(), "POST", r.url+"/default/queues/q/messages",
		io.MultiReader(strings.NewReader(long)))
	req.Header.Set("Content-Type", "text/plain")
	answer, err := r.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 413 {
		t.Errorf("status %d", answer.StatusCode)
	}
}

func TestHeadersAreBounded(t *testing.T) {
	r := start(t, settings{config: door.Config{MaxHeaderBytes: 8 << 10, HeaderTimeout: 50 * time.Millisecond}})
	req, _ := http.NewRequestWithContext(t.Context(), "GET", r.url+"/healthz", nil)
	req.Header.Set("X-Long", strings.Repeat("x", 64<<10))
	if answer, err := r.http.Do(req); err == nil {
		answer.Body.Close()
		if answer.StatusCode != 431 {
			t.Errorf("status %d", answer.StatusCode)
		}
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\n")
	if _, err := io.Copy(io.Discard, conn); err != nil { // ends when the server gives up
		t.Error(err)
	}
}
