package clients_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/freeport"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// span is what the tests want to know of one.
type span struct {
	Trace  string `json:"traceId"`
	ID     string `json:"spanId"`
	Parent string `json:"parentSpanId"`
	Name   string `json:"name"`
	Kind   int    `json:"kind"`
	Status struct {
		Code int `json:"code"`
	} `json:"status"`
}

// collector is one that runs, and what it has handed on.
type collector struct {
	http, grpc string // where it listens

	mu    sync.Mutex
	spans []span
}

// all are the spans of a trace; "": of all traces.
func (c *collector) all(trace string) (of []span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if trace == "" || s.Trace == trace {
			of = append(of, s)
		}
	}
	return of
}

// take keeps what the collector hands on.
func (c *collector) take(_ http.ResponseWriter, r *http.Request) {
	var batch struct {
		Resources []struct {
			Scopes []struct {
				Spans []span `json:"spans"`
			} `json:"scopeSpans"`
		} `json:"resourceSpans"`
	}
	if err := json.NewDecoder(r.Body).Decode(&batch); err != nil {
		panic(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range batch.Resources {
		for _, s := range r.Scopes {
			c.spans = append(c.spans, s.Spans...)
		}
	}
}

const config = `receivers:
  otlp: { protocols: { http: { endpoint: "%s" }, grpc: { endpoint: "%s" } } }
exporters:
  otlp_http: { traces_endpoint: "%s", encoding: json, compression: none }
service:
  telemetry: { metrics: { level: none } }
  pipelines: { traces: { receivers: [otlp], exporters: [otlp_http] } }
`

// collect starts a collector, which the test ends.
func collect(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	to := httptest.NewServer(http.HandlerFunc(c.take))
	t.Cleanup(to.Close)
	free, err := freeport.Find(2)
	if err != nil {
		t.Fatal(err)
	}
	c.http, c.grpc = free[0], free[1]
	dir := t.TempDir()
	path := filepath.Join(dir, "collector.yaml")
	if err := os.WriteFile(path, fmt.Appendf(nil, config, c.http, c.grpc, to.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(built.Cache, "collector", "bootstrap"), "--config", "file:"+path)
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // it was killed
		said.Close()
		if text, err := os.ReadFile(said.Name()); t.Failed() {
			t.Logf("the collector said: %s, %v", text, err)
		}
	})
	waittest.Until(t, "the collector listens", func() bool {
		answer, err := http.Get("http://" + c.http)
		if err == nil {
			answer.Body.Close()
		}
		return err == nil
	})
	return c
}
