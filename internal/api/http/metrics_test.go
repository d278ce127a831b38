package http_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/metricstest"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func (r *rig) metrics() string {
	r.t.Helper()
	return string(r.want(200, "GET", "/metrics", "").body)
}

func TestMetricsTellOfQueuesJournalRequestsAndHops(t *testing.T) {
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	r.want(200, "POST", "/default/queues/q/messages", `{"messages": [{"body": "12345"}, {}, {"delay": "1h"}]}`)
	c := r.claim("q", `{"where": "lang is null and attempts >= 0"}`)
	r.settle(fmt.Sprintf(`{"token": %q}`, c[0].Token))
	r.server.Metrics().Hop(queue.Name{Namespace: "default", Name: "q"}, message.Sent, time.Millisecond)
	r.server.Metrics().Hop(queue.Name{Namespace: "default", Name: "q"}, message.Hop(99), time.Millisecond)
	text := r.metrics()
	for _, want := range []string{
		`hikyaku_queue_messages{queue="default/q",state="ready"} 1`,
		`hikyaku_queue_messages{queue="default/q",state="delayed"} 1`,
		`hikyaku_queue_messages{queue="default/q",state="claimed"} 0`,
		`hikyaku_queue_events_total{event="put",queue="default/q"} 3`,
		`hikyaku_queue_events_total{event="done",queue="default/q"} 1`,
		`hikyaku_queue_events_total{event="claim",queue="default/q"} 1`,
		`hikyaku_queue_waiters{queue="default/q"} 0`,
		`hikyaku_queue_views{kind="index",queue="default/q"} 1`,
		`hikyaku_queue_views{kind="condition",queue="default/q"} 1`,
		`hikyaku_queue_view_bytes{kind="index",queue="default/q"} 1024`,
		`hikyaku_queue_examined_total{queue="default/q"} 4`,
		`hikyaku_queues 1`,
		`hikyaku_http_requests_total{code="200",operation="claim"} 1`,
		`hikyaku_http_requests_in_flight 1`,
		`hikyaku_door_requests_total{call="claim",code="200",door="http"} 1`,
		`hikyaku_door_connections{door="http"} 1`,
		`hikyaku_http_request_seconds_count{operation="put"} 1`,
		`hikyaku_hop_seconds_count{hop="durable",queue="default/q"} 3`,
		`hikyaku_hop_seconds_count{hop="claimed",queue="default/q"} 1`,
		`hikyaku_hop_seconds_count{hop="settled",queue="default/q"} 1`,
		`hikyaku_hop_seconds_count{hop="sent",queue="default/q"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("there is no %s in\n%s", want,
				regexp.MustCompile(`(?m)^(#|go_|process_).*\n`).ReplaceAllString(text, ""))
		}
	}
	for _, name := range []string{"hikyaku_journal_groups_total", "hikyaku_journal_bytes",
		"hikyaku_journal_syncs_total", "hikyaku_queue_oldest_seconds", "go_goroutines", "process_open_fds"} {
		if !strings.Contains(text, "\n"+name) {
			t.Errorf("there is no %s", name)
		}
	}
}

// The bytes are those of the wire, heads among them.
func TestBytesAreCountedAsTheyWereOnTheWire(t *testing.T) {
	r := start(t, settings{})
	body := fmt.Sprintf(`{"messages": [{"body": %q}]}`, strings.Repeat("飛脚", 5000))
	request := fmt.Sprintf("PUT /default/queues/q HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"+
		"POST /default/queues/q/messages HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte(request)); err != nil {
		t.Fatal(err)
	}
	answers, err := io.ReadAll(conn)
	if err = errors.Join(err, conn.Close()); err != nil || strings.Count(string(answers), "HTTP/1.1 20") != 2 {
		t.Fatalf("%v: %s", err, answers)
	}
	var received, sent float64
	waitFor(t, func() bool { // the last bytes are counted when they are out
		of := metricstest.Of(t, r.traffic)
		received, sent = of["hikyaku_door_bytes_total received http"], of["hikyaku_door_bytes_total sent http"]
		return sent >= float64(len(answers))
	})
	if received != float64(len(request)) || sent != float64(len(answers)) {
		t.Errorf("%v bytes received and %v sent, wanted %d and %d", received, sent, len(request), len(answers))
	}
}

func TestMetricsStayBoundedWhateverNamesThereAre(t *testing.T) {
	r := start(t, settings{}) // rigs label three queues
	for i := range 10 {
		r.want(201, "PUT", fmt.Sprintf("/default/queues/q%d", i), "")
		r.want(200, "POST", fmt.Sprintf("/default/queues/q%d/messages", i), `{}`)
		r.do("GET", fmt.Sprintf("/no/such/path/%d", i), "")
	}
	text := r.metrics()
	labels := map[string]bool{}
	for _, m := range regexp.MustCompile(`hikyaku_[a-z_]+\{.*?queue="(.*?)"`).FindAllStringSubmatch(text, -1) {
		labels[m[1]] = true
	}
	if len(labels) != 4 || !labels["(others)"] {
		t.Errorf("labels: %v", labels)
	}
	for _, want := range []string{
		`hikyaku_queue_messages{queue="(others)",state="ready"} 7`,
		`hikyaku_hop_seconds_count{hop="durable",queue="(others)"} 7`,
		`hikyaku_http_requests_total{code="404",operation="none"} 10`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
}

func TestOtherRoomsRegisterTheirMetrics(t *testing.T) {
	r := start(t, settings{})
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "hikyaku_test"})
	if err := r.server.Metrics().Register(gauge); err != nil {
		t.Error(err)
	}
	if err := r.server.Metrics().Register(gauge); err == nil {
		t.Error("twice the same")
	}
	if !strings.Contains(r.metrics(), "\nhikyaku_test 0\n") {
		t.Error("it is not shown")
	}
}

// slowReader takes nothing of an answer until it is let go.
type slowReader struct {
	*httptest.ResponseRecorder
	begun chan<- struct{}
	let   <-chan struct{}
}

func (r slowReader) Write(p []byte) (int, error) {
	select {
	case r.begun <- struct{}{}:
	default:
	}
	<-r.let
	return r.ResponseRecorder.Write(p)
}

// Whoever reads the metrics slowly holds a copy of them: only a few may.
func TestMetricsAreShownToAFewAtATime(t *testing.T) {
	r := start(t, settings{})
	begun, let := make(chan struct{}, 1), make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			w := slowReader{httptest.NewRecorder(), begun, let}
			r.server.Handler().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/metrics", nil))
		})
		<-begun
	}
	w := httptest.NewRecorder()
	r.server.Handler().ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/metrics", nil))
	if w.Code != 503 {
		t.Errorf("the fifth reader got %d", w.Code)
	}
	close(let)
	wg.Wait()
	r.want(200, "GET", "/metrics", "")
}
