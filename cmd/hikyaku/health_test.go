package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func TestHealthTellsByItsExitStatus(t *testing.T) {
	var ready atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		switch {
		case r.URL.Path == "/readyz" && !ready.Load():
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"type":"urn:hikyaku:not-ready","title":"not ready","status":503,"detail":"no room"}`))
		case r.URL.Path == "/readyz", r.URL.Path == "/livez":
			_, _ = w.Write([]byte(`{"status":"ok"}`))
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	for _, c := range []struct {
		ready bool
		args  []string
		code  int
		says  string
	}{
		{true, nil, 0, ""}, {true, []string{"--ready"}, 0, ""},
		{false, nil, 0, ""}, {false, []string{"--ready"}, 1, "no room"},
	} {
		ready.Store(c.ready)
		r := hikyaku(t, "", nil, append([]string{"health", "--url", s.URL}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.says) || r.stdout != "" {
			t.Errorf("%+v: %+v", c, r)
		}
	}
	s.Close()
	if r := hikyaku(t, "", nil, "health", "--url", s.URL); r.code != 1 || !strings.Contains(r.stderr, "hikyaku serve") {
		t.Errorf("without a server: %+v", r)
	}
}
