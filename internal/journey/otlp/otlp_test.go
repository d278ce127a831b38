package otlp

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const sampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// put tells of so many messages that are traced.
func put(e *Exporter, n int) {
	for range n {
		m := &message.Message{ID: message.NewID()}
		m.Attributes.Set("traceparent", message.String(sampled))
		e.Spans().Put(m, m.ID, journey.Place{Namespace: "default", Name: "q"}, "", 1)
	}
}

func open(t *testing.T, c Config) *Exporter {
	t.Helper()
	if c.Env == nil {
		c.Env = func(string) (string, bool) { return "", false }
	}
	if c.Report == nil {
		c.Report = func(uint64, error) {}
	}
	e, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestACollectorGetsSpansWithTheHeadersThatAreSet(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=environment")
	got := make(chan string, 10)
	far := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		found := ""
		for _, text := range []string{"publish default/q", "messaging.message.id"} {
			if !strings.Contains(string(body), text) {
				found = " without " + text
			}
		}
		got <- r.URL.Path + " " + r.Header.Get("Authorization") + found
	}))
	defer far.Close()
	for _, c := range []struct{ header, want string }{{"secret", "secret"}, {"", ""}} {
		set := Config{Endpoint: far.URL + "/otel/"}
		if c.header != "" {
			set.Headers = map[string]string{"Authorization": c.header}
		}
		e := open(t, set)
		put(e, 3)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if text := <-got; text != "/otel/v1/traces "+c.want {
			t.Error(text)
		}
		if e.sent.Load() != 3 || e.lost.Load() != 0 {
			t.Errorf("%d sent, %d lost", e.sent.Load(), e.lost.Load())
		}
	}
}

func TestTheEnvironmentCountsWhereNothingIsSet(t *testing.T) {
	of := func(pairs ...string) func(string) (string, bool) {
		all := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i]] = pairs[i+1]
		}
		return func(name string) (string, bool) { v, ok := all[name]; return v, ok }
	}
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for _, c := range []struct {
		env  func(string) (string, bool)
		want bool
	}{
		{of(), false},
		{of(endpoint, "http://127.0.0.1:1"), true},
		{of("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), true},
		{of(endpoint, "http://127.0.0.1:1", "OTEL_SDK_DISABLED", "true"), false},
		{of(endpoint, "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER", "none"), false},
	} {
		e := open(t, Config{Env: c.env})
		if (e != nil) != c.want || (e.Spans() != nil) != c.want {
			t.Errorf("%v, want %v", e, c.want)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestACollectorThatHangsCostsSpans, and keeps nobody waiting: neither who tells, nor for long who closes.
func TestACollectorThatHangsCostsSpans(t *testing.T) {
	hung := make(chan struct{})
	far := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-hung:
		case <-r.Context().Done():
		}
	}))
	defer far.Close()
	defer close(hung)
	var told uint64
	e := open(t, Config{Endpoint: far.URL, Report: func(lost uint64, err error) {
		if told += lost; err == nil {
			t.Error("no reason is told")
		}
	}})
	put(e, maxSpans+100)
	if e.lost.Load() != 100 {
		t.Errorf("%d lost", e.lost.Load())
	}
	e.end() // as after closeTime
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if e.lost.Load() != maxSpans+100 || e.under.Load() != 0 || told == 0 {
		t.Errorf("%d lost, %d under way, %d told", e.lost.Load(), e.under.Load(), told)
	}
	metrics, err := testutil.CollectAndFormat(e, expfmt.TypeTextPlain, "hikyaku_trace_spans_total")
	if err != nil || !strings.Contains(string(metrics), `{outcome="lost"} 4196`) {
		t.Errorf("%v\n%s", err, metrics)
	}
}

func TestEndpointsAreChecked(t *testing.T) {
	for _, text := range []string{"127.0.0.1:4318", "ftp://x", "http://", "http://u:p@x", "http://x?a=b",
		"http://%zz"} {
		if _, err := New(t.Context(), Config{Endpoint: text}); err == nil || CheckEndpoint(text) == nil {
			t.Errorf("%q is taken", text)
		}
	}
	if err := CheckEndpoint("https://collector:4318"); err != nil {
		t.Error(err)
	}
}
