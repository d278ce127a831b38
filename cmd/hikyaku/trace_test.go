package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
)

// putTraced puts a message into the queue orders and returns its id.
func (s *served) putTraced(t *testing.T, body string) string {
	t.Helper()
	answer, err := http.Post(s.url+"/default/queues/orders/messages", "text/plain", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var r httpdoor.PutResult
	if err := json.NewDecoder(answer.Body).Decode(&r); err != nil || r.ID == "" {
		t.Fatal(r, err)
	}
	return r.ID
}

// hops waits until a message's journey has a last hop of that name, and tells all of them in a line.
func (s *served) hops(t *testing.T, id, last string) (text string) {
	t.Helper()
	pushtest.Eventually(t, func() bool {
		var j httpdoor.Journey
		if err := json.Unmarshal([]byte(s.do(t, "", "trace", id, "--json").stdout), &j); err != nil {
			t.Fatal(err)
		}
		var hops []string
		for _, h := range j.Hops {
			if h.Hop != "durable" { // a reader may have the message before who put it is told
				hops = append(hops, h.Hop+" "+strings.TrimPrefix(h.Queue, "default/")+h.Step)
			}
		}
		text = strings.Join(hops, ", ")
		return strings.HasSuffix(text, last)
	})
	return text
}

// TestATraceTellsRetriesADeadLetterAndItsReplay, with a far end that answers 500 twice, and 400 to what is wrong.
func TestATraceTellsRetriesADeadLetterAndItsReplay(t *testing.T) {
	var asked atomic.Int64
	var mended atomic.Bool
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), "wrong") && !mended.Load():
			w.WriteHeader(http.StatusBadRequest)
		case asked.Add(1) <= 2:
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer far.Close()
	s := serveHere(t, t.TempDir(), quiet+"queues: { orders: {} }\nsources: { orders: { type: queue, queue: orders } }\n"+
		"sinks:\n  hook: { type: webhook, inputs: orders, url: '"+far.URL+"' }\n")
	id := s.putTraced(t, "hello")
	want := "accepted orders, claimed orders, answered hook, answered hook, answered hook, done orders"
	if got := s.hops(t, id, "done orders"); got != want {
		t.Errorf("%s\nshould be\n%s", got, want)
	}
	shown := s.do(t, "", "trace", id).stdout
	for _, line := range strings.Split(shown, "\n") {
		if len([]rune(line)) > 80 {
			t.Errorf("%q is wider than a terminal", line)
		}
	}
	if !strings.Contains(shown, "answered hook, attempt 3") || !strings.Contains(shown, "500 Internal") {
		t.Error(shown)
	}
	if slow := s.do(t, "", "slow", "--sink", "hook").stdout; !strings.Contains(slow, id) {
		t.Error(slow)
	}
	id = s.putTraced(t, "wrong")
	want = "accepted orders, claimed orders, answered hook, dead hook_dead, done orders"
	if got := s.hops(t, id, "done orders"); got != want {
		t.Errorf("%s\nshould be\n%s", got, want)
	}
	mended.Store(true)
	s.do(t, "", "queue", "replay", "hook_dead")
	want += ", replayed orders, claimed orders, answered hook, done orders"
	if got := s.hops(t, id, "answered hook, done orders"); got != want {
		t.Errorf("%s\nshould be\n%s", got, want)
	}
}
