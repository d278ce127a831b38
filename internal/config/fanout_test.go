package config

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/journal"
	journalfile "github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const fanoutFile = `
sources:
  waiting: { type: queue, queue: campaigns }
transforms:
  users:
    type: fanout
    inputs: [waiting]
    key: id
    into: user
    source: { type: body, items: users }
  title:
    type: lookup
    inputs: [users]
    key: user.lang
    source: { type: static, values: { ja: 飛脚, en: courier } }
sinks:
  hook: { type: webhook, inputs: [title], url: URL }
  log:  { type: queue, inputs: [title], queue: told }
`

// runOnce makes a pipeline of a file over a store and runs it until its queues are empty.
func runOnce(t *testing.T, store *queue.Store, text string) pipeline.Result {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Load(path, noEnv)
	if err != nil {
		t.Fatal(err)
	}
	a, err := f.Build(store, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pipeline.New(a.Nodes, pipeline.Options{Store: store, Finite: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAReplayTellsOneUserAndNotAllOfThem follows one user of a campaign through a dead letter and its replay, and the
// campaign itself.
func TestAReplayTellsOneUserAndNotAllOfThem(t *testing.T) {
	var mu sync.Mutex
	var told []string
	refuse := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if refuse && strings.Contains(string(body), `"id":2`) {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		told = append(told, string(body))
	}))
	defer server.Close()
	j, err := journalfile.Open(t.Context(), journalfile.Options{Dir: t.TempDir(), Durability: journal.None})
	if err != nil {
		t.Fatal(err)
	}
	store, err := queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(store.Close(), j.Close()); err != nil {
			t.Error(err)
		}
	}()
	named := func(name string) queue.Name { return queue.Name{Namespace: queue.DefaultNamespace, Name: name} }
	campaign := message.Message{Body: []byte(
		`{"n": 42, "users": [{"id": 1, "lang": "ja"}, {"id": 2, "lang": "en"}, {"id": 3, "lang": "fr"}, {"id": 4, "lang": "en"}]}`)}
	if _, err := store.Put(t.Context(), named("campaigns"), []message.Message{campaign}); err != nil {
		t.Fatal(err)
	}
	file := strings.Replace(fanoutFile, "URL", server.URL, 1)
	r := runOnce(t, store, file)
	// the campaign, two users; one refused by the webhook, one without a title
	if r.Delivered != 3 || r.DeadLettered != 2 {
		t.Errorf("%+v", r)
	}
	want := []string{`{"n":42,"user":{"id":1,"lang":"ja"},"title":"飛脚"}`,
		`{"n":42,"user":{"id":4,"lang":"en"},"title":"courier"}`}
	slices.Sort(told)
	if !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
	for name, step := range map[string]string{"hook_dead": "users/hook", "title_dead": "users/title"} {
		dead, err := store.Peek(t.Context(), named(name), queue.PeekRequest{})
		if err != nil || len(dead) != 1 || dead[0].Message.Death.Step != step ||
			dead[0].Message.Death.Queue != "default/campaigns" || !json.Valid(dead[0].Body()) {
			t.Errorf("%s: %+v, %v", name, dead, err)
		}
		if done, err := store.Replay(t.Context(), named(name), queue.ReplayRequest{}); err != nil || done.Moved != 1 {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
	}
	told, refuse = nil, false
	r = runOnce(t, store, strings.Replace(file, "en: courier", "en: courier, fr: courrier", 1))
	if r.Delivered != 2 || r.DeadLettered != 0 {
		t.Errorf("%+v", r)
	}
	want = []string{`{"n":42,"user":{"id":2,"lang":"en"},"title":"courier"}`,
		`{"n":42,"user":{"id":3,"lang":"fr"},"title":"courrier"}`}
	slices.Sort(told)
	if !slices.Equal(told, want) {
		t.Errorf("the second time told %q", told)
	}
	if st, err := store.Stats(t.Context(), named("told")); err != nil || st.TotalPut != 4 {
		t.Errorf("%+v, %v", st, err)
	}
}
