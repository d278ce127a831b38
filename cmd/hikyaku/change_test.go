package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// farEnd remembers which bodies came to which paths.
type farEnd struct {
	*httptest.Server
	mu   sync.Mutex
	came map[string][]string // paths by body
}

func openFarEnd(t *testing.T) *farEnd {
	f := &farEnd{came: map[string][]string{}}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.came[string(body)] = append(f.came[string(body)], r.URL.Path)
	}))
	t.Cleanup(f.Close)
	return f
}

// to counts the bodies that came to a path.
func (f *farEnd) to(path string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, paths := range f.came {
		if slices.Contains(paths, path) {
			n++
		}
	}
	return n
}

// shop is a configuration of two pipelines, of which the second posts to a path.
func shop(url, path, more string) string {
	return quiet + fmt.Sprintf(`queues: { orders: {}, mails: {} }
sources:
  from_orders: { type: queue, queue: orders }
  from_mails: { type: queue, queue: mails }
sinks:
  ship: { type: webhook, inputs: [from_orders], url: "%s/ship" }
  post: { type: webhook, inputs: [from_mails], url: "%s%s" }
%s`, url, url, path, more)
}

// rewrite changes the configuration of a server.
func (s *served) rewrite(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "serve.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// reload has the server read its configuration again.
func (s *served) reload(t *testing.T, args ...string) (did httpdoor.Reloaded) {
	t.Helper()
	r := s.do(t, "", append([]string{"reload", "--json"}, args...)...)
	if r.code != 0 {
		t.Fatalf("%+v", r)
	}
	if err := json.Unmarshal([]byte(r.stdout), &did); err != nil {
		t.Fatal(err)
	}
	return did
}

// TestAPipelineIsChangedBesideOthersAndNothingIsLostOrDoubled, while messages for both come in.
func TestAPipelineIsChangedBesideOthersAndNothingIsLostOrDoubled(t *testing.T) {
	far := openFarEnd(t)
	s := serveHere(t, t.TempDir(), shop(far.URL, "/v0", ""))
	c, err := httpdoor.NewClient(httpdoor.ClientConfig{URL: s.url})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, enough := context.WithCancel(t.Context())
	var putting sync.WaitGroup
	defer putting.Wait()
	defer enough()
	var mu sync.Mutex
	put := map[string]bool{} // bodies that were acknowledged
	for _, name := range []string{"orders", "mails"} {
		putting.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				body := fmt.Sprintf("%s %d", name, i)
				to := queue.Name{Namespace: queue.DefaultNamespace, Name: name}
				if _, err := c.Put(context.WithoutCancel(ctx), to, httpdoor.Message{Body: &body}); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				put[body] = true
				mu.Unlock()
			}
		})
	}
	for round := 1; round <= 5; round++ {
		path := fmt.Sprintf("/v%d", round)
		s.rewrite(t, shop(far.URL, path, ""))
		did := s.reload(t)
		want := []string{"from_mails", "post"}
		if !slices.Equal(did.Stopped, want) || !slices.Equal(did.Started, want) || len(did.NeedsRestart) != 0 {
			t.Errorf("%+v", did)
		}
		pushtest.Eventually(t, func() bool { return far.to(path) > 0 })
	}
	enough()
	putting.Wait()
	pushtest.Eventually(t, func() bool {
		far.mu.Lock()
		defer far.mu.Unlock()
		return len(far.came) >= len(put)
	})
	for body := range put {
		if n := len(far.came[body]); n != 1 {
			t.Errorf("%q came %d times", body, n)
		}
	}
	// One that was started anew would count from 0.
	pushtest.Eventually(t, func() bool {
		return s.metric(t, `hikyaku_sink_messages_total{outcome="delivered",sink="ship"}`) == fmt.Sprint(far.to("/ship"))
	})
}

// TestACampaignGoesOnWhenItsPipelinesAreChanged: both are stopped in the middle of it, and each phone is told once.
func TestACampaignGoesOnWhenItsPipelinesAreChanged(t *testing.T) {
	const phones = 1000
	far, s, config := campaigned(t, phones, 200)
	id := s.start(t, "news", `{"news": 42}`)
	for round, change := range [][2]string{
		{"rate_limit_num: 200", "rate_limit_num: 300"}, {"page: 100", "page: 50"},
		{"rate_limit_num: 300", "rate_limit_num: 900"},
	} {
		pushtest.Eventually(t, func() bool { return far.counts(t).Accepted >= int64(50*(round+1)) })
		config = strings.Replace(config, change[0], change[1], 1)
		s.rewrite(t, config)
		if did := s.reload(t); len(did.Started) == 0 {
			t.Errorf("%+v", did)
		}
	}
	pushtest.Eventually(t, func() bool { return s.campaign(t, id).State == campaign.Done })
	if v := s.campaign(t, id); v.Made != phones || v.Sent != phones || v.Dropped != 0 || v.Problem != "" {
		t.Errorf("%+v", v)
	}
	if c := far.counts(t); c.Accepted != phones {
		t.Errorf("%d pushes were taken", c.Accepted)
	}
}

// TestAReloadDefinesWhatIsNewAndTakesNothingOfWhatIsWrong, by each of the ways to ask for it.
func TestAReloadDefinesWhatIsNewAndTakesNothingOfWhatIsWrong(t *testing.T) {
	far := openFarEnd(t)
	s := serveHere(t, t.TempDir(), shop(far.URL, "/v0", ""))
	if did := s.reload(t); len(did.Changed)+len(did.Stopped)+len(did.Started)+len(did.NeedsRestart) != 0 {
		t.Errorf("nothing has changed: %+v", did)
	}
	wrong := shop(far.URL, "/wrong", "")
	for text, says := range map[string]string{
		strings.Replace(wrong, "[from_mails]", "[nobody]", 1):                 "nobody",
		strings.Replace(wrong, "mails: {}", "mails: { max_attempts: -1 }", 1): "attempts",
		// What is found out when it starts: what was stopped for it comes back.
		strings.Replace(wrong, "{ type: queue, queue: mails }", "{ type: http_server, listen: '"+
			strings.TrimPrefix(far.URL, "http://")+"' }", 1): "address already in use",
		strings.Replace(strings.Replace(wrong, "{ type: queue, queue: mails }", "{ type: http_server, listen: '"+
			strings.TrimPrefix(far.URL, "http://")+"' }", 1), "mails: {}", "mails: { max_attempts: 3 }", 1): "in use",
	} {
		s.rewrite(t, text)
		if r := s.do(t, "", "reload"); r.code == 0 || !strings.Contains(r.stderr, says) {
			t.Errorf("%+v; it does not say %s", r, says)
		}
	}
	if r := s.do(t, "", "queue", "show", "mails"); strings.Contains(r.stdout, "max_attempts") {
		t.Errorf("what was altered for a configuration that is not taken stays so: %s", r.stdout)
	}
	s.rewrite(t, strings.Replace(shop(far.URL, "/v1", "limits: { message_bytes: 1MiB }\n"), "mails: {}",
		"mails: { max_attempts: 7 }, news: {}", 1))
	if did := s.reload(t, "--dry-run"); !slices.Equal(did.NeedsRestart, []string{"limits"}) &&
		!slices.Equal(did.NeedsRestart, []string{"limits.message_bytes"}) ||
		!slices.Equal(did.Changed, []string{"queues", "sinks"}) || !slices.Contains(did.Stopped, "post") {
		t.Errorf("%+v", did)
	}
	if r := s.do(t, "hello", "publish", "mails"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	pushtest.Eventually(t, func() bool { return far.to("/v0") == 1 })
	s.reload(t)
	if r := s.do(t, "", "queue", "show", "mails"); !strings.Contains(r.stdout, "7") {
		t.Errorf("max_attempts is not taken: %s", r.stdout)
	}
	if r := s.do(t, "", "queue", "show", "news"); r.code != 0 {
		t.Errorf("%+v", r)
	}
	s.rewrite(t, shop(far.URL, "/v2", ""))
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if r := s.do(t, "hello again", "publish", "mails"); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	pushtest.Eventually(t, func() bool { return far.to("/v1")+far.to("/v2") == 1 })
}

func TestAWatchedFileIsReadWhenItIsAnotherOneOrWasWritten(t *testing.T) {
	name := filepath.Join(t.TempDir(), "c.yaml")
	write := func(to, text string) {
		t.Helper()
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(name, "a")
	read := make(chan string)
	stop := watchFile(name, 1, func() {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		}
		read <- string(text)
	})
	write(name, "a b")
	if got := <-read; got != "a b" {
		t.Errorf("%q was read", got)
	}
	write(name+".new", "c d")
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "c d" {
		t.Errorf("%q was read", got)
	}
	stop()
}

// TestAComponentIsTheSameWhateverElseChanges in the file.
func TestAComponentIsTheSameWhateverElseChanges(t *testing.T) {
	read := func(text string) *config.File {
		t.Helper()
		f, err := config.Parse("a.yaml", []byte(text), os.LookupEnv)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	const before = "data_dir: a\nsources: { in: { type: stdin, decoding: { codec: json } } }\n" +
		"sinks: { out: { type: stdout, inputs: [in] } }\n"
	f := read(before)
	for text, same := range map[string]bool{
		strings.Replace(before, "data_dir: a", "data_dir: b", 1):                               true,
		strings.Replace(before, "type: stdout, inputs: [in]", "inputs: [in], type: stdout", 1): true,
		strings.Replace(before, "codec: json", "codec: text", 1):                               false,
	} {
		next := read(text)
		if f.Same(next, "in") != same || f.Same(next, "in.decoding") != same || !f.Same(next, "out") {
			t.Errorf("%s: want %v", text, same)
		}
	}
	if f.Same(f, "other") || f.Same(read("data_dir: a\n"), "in") {
		t.Error("one that is not there is the same")
	}
}
