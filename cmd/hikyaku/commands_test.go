package main

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/hikyaku/hikyaku/internal/sandbox/webhook"
)

// served is a running `hikyaku serve`.
type served struct {
	url string
	cmd *exec.Cmd
	dir string
}

// serveHere starts the real program with a configuration and waits until its door is open.
func serveHere(t *testing.T, dir, config string) *served {
	t.Helper()
	path := filepath.Join(dir, "serve.yaml")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := command(context.Background(), []string{"HIKYAKU_DATA=" + filepath.Join(dir, "data")}, "serve", "-c", path)
	cmd.Dir = dir
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &served{cmd: cmd, dir: dir}
	address := regexp.MustCompile(`door=http address=(\S+)`)
	sc := bufio.NewScanner(stderr)
	for sc.Scan() {
		if m := address.FindStringSubmatch(sc.Text()); m != nil {
			s.url = "http://" + m[1]
			break
		}
		t.Log(sc.Text())
	}
	if s.url == "" {
		t.Fatal("serve ended without opening its door")
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for sc.Scan() {
			if strings.Contains(sc.Text(), "level=ERROR") {
				t.Error(sc.Text())
			}
		}
	}()
	t.Cleanup(func() { s.stop(t); <-drained })
	return s
}

// stop ends the program cleanly; a second call does nothing.
func (s *served) stop(t *testing.T) {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("serve ended with %v", err)
	}
	s.cmd = nil
}

func (s *served) do(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	return hikyaku(t, stdin, []string{"HIKYAKU_URL=" + s.url}, args...)
}

const quiet = "data_dir: ${HIKYAKU_DATA}\napi: { http: { listen: 127.0.0.1:0 } }\n"

func TestPublishClaimAndQueueSpeakToARunningServer(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet)
	if r := s.do(t, "one\ntwo\nthree\n", "publish", "news", "--attr", "lang=ja", "--attr", "priority=3"); r.code != 0 ||
		!strings.Contains(r.stderr, "published 3 messages to news") {
		t.Fatalf("publish: %+v", r)
	}
	if r := s.do(t, "four\n", "publish", "news", "--attr", "lang=en"); r.code != 0 {
		t.Fatalf("publish: %+v", r)
	}
	r := s.do(t, "", "claim", "news", "--where", "lang = 'ja' and priority >= 3", "--max", "2", "--body")
	if r.code != 0 || r.stdout != "one\ntwo\n" {
		t.Errorf("claim: %+v", r)
	}
	r = s.do(t, "", "claim", "news", "--where", "lang = 'en'", "--back")
	var claim struct {
		Body       string
		Attributes map[string]any
		Attempt    int
	}
	if err := json.Unmarshal([]byte(r.stdout), &claim); err != nil || claim.Body != "four" ||
		claim.Attributes["lang"] != "en" || claim.Attempt != 1 {
		t.Errorf("claim: %+v %v", r, err)
	}
	r = s.do(t, "", "queue", "ls")
	if r.code != 0 || !regexp.MustCompile(`(?m)^news +2 +0 +0 +0 `).MatchString(r.stdout) {
		t.Errorf("ls:\n%s%s", r.stdout, r.stderr)
	}
	if r = s.do(t, "", "queue", "peek", "news", "--where", "lang = 'ja'"); strings.Count(r.stdout, "\n") != 1 ||
		!strings.Contains(r.stdout, `"three"`) {
		t.Errorf("peek: %+v", r)
	}
	if r = s.do(t, "", "queue", "purge", "news"); r.code != exitUsage || !strings.Contains(r.stderr, "--yes") {
		t.Errorf("purge without --yes: %+v", r)
	}
	if r = s.do(t, "", "queue", "purge", "--yes", "news"); r.code != 0 || r.stdout != "purged 2 messages of news\n" {
		t.Errorf("purge: %+v", r)
	}
}

func TestMistakesOnTheCommandLineSayWhatToDo(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet)
	for _, c := range []struct {
		args []string
		code int
		says []string
	}{
		{[]string{"claim", "news", "--where", "lang = "}, exitFailed, []string{"lang ="}},
		{[]string{"queue", "show", "nothing"}, exitFailed, []string{"no such queue", "nothing"}},
		{[]string{"publish", "a b"}, exitUsage, []string{"not a name"}},
		{[]string{"run"}, exitUsage, []string{"needs a configuration", "run -c FILE"}},
		{[]string{"run", "--nonsense"}, exitUsage, []string{"--nonsense", "--help"}},
		{[]string{"queue", "ls", "--url", "http://127.0.0.1:1"}, exitFailed, []string{"hikyaku serve"}},
		{[]string{"journal", "repair", "somewhere"}, exitUsage, []string{"--accept-loss"}},
	} {
		r := s.do(t, "", c.args...)
		if r.code != c.code {
			t.Errorf("%v: status %d, want %d: %s", c.args, r.code, c.code, r.stderr)
		}
		for _, says := range c.says {
			if !strings.Contains(r.stderr, says) {
				t.Errorf("%v says %q, want %q in it", c.args, r.stderr, says)
			}
		}
	}
}

func TestASecondProcessOnTheSameDataDirIsRefused(t *testing.T) {
	dir := t.TempDir()
	serveHere(t, dir, quiet)
	r := hikyaku(t, "", []string{"HIKYAKU_DATA=" + filepath.Join(dir, "data")}, "serve", "-c",
		filepath.Join(dir, "serve.yaml"))
	if r.code != exitFailed || !strings.Contains(r.stderr, "another process") ||
		!strings.Contains(r.stderr, "another data_dir") {
		t.Errorf("%+v", r)
	}
}

func TestWhatServeKeptIsThereAfterAKill(t *testing.T) {
	dir := t.TempDir()
	s := serveHere(t, dir, quiet)
	if r := s.do(t, "kept\n", "publish", "news"); r.code != 0 {
		t.Fatal(r)
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait()
	s.cmd = nil
	again := serveHere(t, dir, quiet)
	if r := again.do(t, "", "claim", "news", "--body"); r.stdout != "kept\n" {
		t.Errorf("%+v", r)
	}
	again.stop(t)
	if r := hikyaku(t, "", nil, "journal", "check", filepath.Join(dir, "data")); r.code != 0 ||
		!regexp.MustCompile(`damaged places +0`).MatchString(r.stdout) {
		t.Errorf("journal check: %+v", r)
	}
}

// misbehaving is a webhook sink that tries again quickly.
const misbehaving = `data_dir: ${HIKYAKU_DATA}
sources:
  in: { type: stdin }
sinks:
  hook:
    type: webhook
    inputs: [in]
    url: ${URL}
    request: { timeout_secs: 0.3, retry_attempts: 20, retry_initial_backoff_secs: 0.01, retry_max_duration_secs: 0.05 }
`

func TestAMisbehavingWebhookGetsEveryMessageInTheEnd(t *testing.T) {
	dir := t.TempDir()
	hook, err := webhook.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hook.Close()
	if err := hook.Script(
		webhook.Behaviour{Do: webhook.Hang}, webhook.Behaviour{Do: webhook.Reset},
		webhook.Behaviour{Do: webhook.Status, Code: 429, RetryAfter: "1"},
		webhook.Behaviour{Do: webhook.Status, Code: 500}, webhook.Behaviour{Do: webhook.Garbage},
		webhook.Behaviour{Do: webhook.Half},
		webhook.Behaviour{Do: webhook.Hang}, webhook.Behaviour{Do: webhook.Status, Code: 503},
		webhook.Behaviour{Do: webhook.Reset},
	); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "hook.yaml")
	if err := os.WriteFile(path, []byte(misbehaving), 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"HIKYAKU_DATA=" + filepath.Join(dir, "data"), "URL=" + hook.URL()}
	r := hikyaku(t, strings.Repeat("a line\n", 300), env, "-c", path)
	if c := hook.Counts(); r.code != 0 || c.Messages != 300 {
		t.Errorf("status %d, %+v: %s", r.code, c, r.stderr)
	}
}

func TestRejectedMessagesBecomeDeadLettersAndAReplayDeliversThem(t *testing.T) {
	dir := t.TempDir()
	hook, err := webhook.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hook.Close()
	if err := hook.Always(webhook.Behaviour{Do: webhook.Status, Code: 422, Body: "no such user"}); err != nil {
		t.Fatal(err)
	}
	config := `data_dir: ${HIKYAKU_DATA}
api: { http: { listen: 127.0.0.1:0 } }
queues: { news: {} }
sources:
  waiting: { type: queue, queue: news }
sinks:
  hook: { type: webhook, inputs: [waiting], url: ` + hook.URL() + ` }
  archive: { type: file, inputs: [waiting], path: ` + filepath.Join(dir, "out.ndjson") + ` }
`
	path := filepath.Join(dir, "dead.yaml")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	s := serveHere(t, dir, config)
	if r := s.do(t, "one\ntwo\n", "publish", "news"); r.code != 0 {
		t.Fatal(r)
	}
	r := s.do(t, "", "claim", "hook_dead", "--wait", "20s", "--back")
	if !strings.Contains(r.stdout, "no such user") || !strings.Contains(r.stdout, `"step":"hook"`) ||
		!strings.Contains(r.stdout, `"queue":"default/news"`) {
		t.Fatalf("dead letter: %+v", r)
	}
	// Both are dead letters once they are out of news.
	for r = s.do(t, "", "queue", "show", "hook_dead"); !strings.Contains(r.stdout, `"messages":2`); r = s.do(t, "",
		"queue", "show", "hook_dead") {
		if t.Context().Err() != nil {
			t.Fatal(r)
		}
	}
	if err := hook.Always(webhook.Behaviour{Do: webhook.Accept}); err != nil {
		t.Fatal(err)
	}
	if r := s.do(t, "", "queue", "replay", "hook_dead"); r.code != 0 ||
		r.stdout != "replayed 2 messages of hook_dead\n" {
		t.Fatalf("replay: %+v", r)
	}
	for hook.Counts().Messages < 2 {
		if t.Context().Err() != nil {
			t.Fatal(hook.Counts())
		}
	}
	s.stop(t)
	text, err := os.ReadFile(filepath.Join(dir, "out.ndjson"))
	if err != nil || strings.Count(string(text), "\n") != 2 {
		t.Errorf("the file was given the messages again, although it had them: %q %v", text, err)
	}
}

func TestARunWithDeadLettersEndsWithStatus3(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "jq.yaml")
	config := `data_dir: ${HIKYAKU_DATA}
sources: { in: { type: stdin } }
transforms: { shape: { type: jq, inputs: [in], program: '{n: (.n + 1)}' } }
sinks: { out: { type: stdout, inputs: [shape] } }
`
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	r := hikyaku(t, "{\"n\":1}\nnot json\n{\"n\":2}\n", []string{"HIKYAKU_DATA=" + filepath.Join(dir, "data")}, "run",
		"-c", path)
	if r.code != exitDead || r.stdout != "{\"n\":2}\n{\"n\":3}\n" || !strings.Contains(r.stderr, "shape_dead") {
		t.Errorf("%+v", r)
	}
}

func TestAConfigurationIsRefusedWithThePlaceOfEveryMistake(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "bad.yaml")
	config := "sources:\n  waiting: { type: queue, quee: news }\nsinks:\n  out: { type: stdout, inputs: [waitin] }\n"
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	r := hikyaku(t, "", nil, "validate", "-c", path)
	for _, says := range []string{"bad.yaml:2:27", `"queue"`, "bad.yaml:4", `"waiting"`, "^"} {
		if r.code != exitFailed || !strings.Contains(r.stderr, says) {
			t.Errorf("want %q in:\n%s", says, r.stderr)
		}
	}
}

func TestTheDemoAddsUp(t *testing.T) {
	r := hikyaku(t, "", []string{"HOME=" + t.TempDir()}, "demo", "--users", "1500")
	if r.code != 0 {
		t.Fatalf("%+v", r)
	}
	for _, says := range []string{
		"accepted → durable", "claimed → transformed", "sent → settled", "from the news to the end", // the hops
		// the report's table
		"users/s", "mean", "median", "p99", "8,625", "2,853", "published, second fix", "hikyaku, since the news",
		"put into the outbox", "delivered as Apple does", "delivered as Google does", "told twice",
		"left in the outbox",
	} {
		if !strings.Contains(r.stdout, says) {
			t.Errorf("the demo does not say %q:\n%s", says, r.stdout)
		}
	}
	if strings.Contains(r.stdout+r.stderr, "\x1b") {
		t.Error("it draws where there is no terminal")
	}
}
