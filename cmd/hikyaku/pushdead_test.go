package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// kill ends the program as kill -9 does.
func (s *served) kill(t *testing.T) {
	t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // it was killed
	s.cmd = nil
}

// well runs a command that must succeed and answer with JSON.
func (s *served) well(t *testing.T, into any, args ...string) {
	t.Helper()
	r := s.do(t, "", append(args, "--json")...)
	if err := json.Unmarshal([]byte(r.stdout), into); r.code != 0 || err != nil {
		t.Fatalf("%v: %v in %+v", args, err, r)
	}
}

func (s *sandboxed) counts(t *testing.T) (c farend.Counts) {
	t.Helper()
	asked, err := http.Get(s.control + "counts")
	if err != nil {
		t.Fatal(err)
	}
	defer asked.Body.Close()
	if err := json.NewDecoder(asked.Body).Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

// metric is the value of a line of /metrics; "": it is not there.
func (s *served) metric(t *testing.T, name string) string {
	t.Helper()
	asked, err := http.Get(s.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer asked.Body.Close()
	text, err := io.ReadAll(asked.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// pushing is a configuration of a sink that pushes to a sandbox what is in the queue outbox.
func pushing(far *sandboxed) string {
	return quiet + fmt.Sprintf(`
sources:
  outbox: { type: queue, queue: outbox }
sinks:
  phones:
    type: apns
    inputs: outbox
    feedback: gone
    apps:
      com.example.news:
        team: TEAM123456
        key_id: KEY1234567
        key_file: hikyaku-sandbox/AuthKey_KEY1234567.p8
        endpoint: %s
        ca_file: hikyaku-sandbox/authority.pem
`, strings.TrimPrefix(far.url, "https://"))
}

func TestARevivedDeviceIsPushedToAlsoAfterAKill(t *testing.T) {
	dir := t.TempDir()
	one, other := strings.Repeat("a1", 32), strings.Repeat("b2", 32)
	behaviour := filepath.Join(dir, "behaviour.json")
	text := fmt.Sprintf(`{"devices":[{"tokens":[%q,%q],"faults":[
		{"do":"refuse","reason":"Unregistered","every":1,"times":2}]}]}`, one, other)
	if err := os.WriteFile(behaviour, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	far := sandboxHere(t, dir, "apns", "--behaviour", behaviour)
	s := serveHere(t, dir, pushing(far))
	push := func(token string) {
		t.Helper()
		if r := s.do(t, `{"aps":{"alert":"hello"}}`+"\n", "publish", "outbox", "--attr", "token="+token); r.code != 0 {
			t.Fatalf("%+v", r)
		}
	}
	push(one)
	push(other)
	var total []httpdoor.DeadTotals
	pushtest.Eventually(t, func() bool {
		s.well(t, &total, "push", "dead", "ls", "phones", "--app", "com.example.news")
		n := 0
		for _, row := range total[0].Totals {
			n += row.Devices
		}
		return n == 2
	})
	if row := total[0].Totals[0]; row.Reason != "Unregistered" || row.Status != 410 || row.App != "com.example.news" {
		t.Errorf("%+v", total)
	}
	if r := s.do(t, "", "push", "dead", "ls"); r.code != 0 || !strings.Contains(r.stdout, "410 Unregistered") {
		t.Errorf("as a table: %+v", r)
	}
	var device httpdoor.DeadDevice
	s.well(t, &device, "push", "dead", "show", "phones", "--token", one)
	if !device.Dead || len(device.Deaths) != 1 || device.Deaths[0].Reason != "Unregistered" {
		t.Errorf("%+v", device)
	}
	var did httpdoor.Revived
	s.well(t, &did, "push", "dead", "revive", "phones", "--reason", "Unregistered", "--since", "2020-01-02",
		"--dry-run")
	if did != (httpdoor.Revived{Revived: 2, DryRun: true}) {
		t.Errorf("%+v", did)
	}
	s.well(t, &did, "push", "dead", "revive", "phones", "--app", "com.example.news", "--token", one)
	s.kill(t)
	if did.Revived != 1 {
		t.Errorf("%+v", did)
	}
	s = serveHere(t, dir, pushing(far))
	push(other)
	push(one)
	pushtest.Eventually(t, func() bool { return far.counts(t).Accepted == 1 })
	s.well(t, &device, "push", "dead", "show", "phones", "--token", one)
	if device.Dead {
		t.Errorf("%+v", device)
	}
	s.well(t, &device, "push", "dead", "show", "phones", "--token", other)
	if c := far.counts(t); !device.Dead || c.Requests != 3 || c.Accepted != 1 {
		t.Errorf("the other: %+v, %+v", device, c)
	}
	for line, want := range map[string]string{
		`hikyaku_push_requests_total{sink="phones"}`:                     "1",
		`hikyaku_push_refused_total{reason="device gone",sink="phones"}`: "1",
		`hikyaku_push_dead_devices{sink="phones"}`:                       "1",
		`hikyaku_push_connections{sink="phones"}`:                        "1",
		`hikyaku_push_in_flight{sink="phones"}`:                          "0",
		`hikyaku_push_paused{app="com.example.news",sink="phones"}`:      "0",
		`hikyaku_sink_messages_total{outcome="delivered",sink="phones"}`: "1",
		`hikyaku_sink_messages_total{outcome="rejected",sink="phones"}`:  "1",
		`hikyaku_sink_messages_total{outcome="replaced",sink="phones"}`:  "0",
		`hikyaku_sink_retries_total{sink="phones"}`:                      "0",
	} {
		pushtest.Eventually(t, func() bool { return s.metric(t, line) == want })
	}
	if s.metric(t, `hikyaku_push_token_age_seconds{app="com.example.news",sink="phones"}`) == "" {
		t.Error("nothing tells how old the provider token is")
	}
	var wrong bytes.Buffer
	for hint, args := range map[string][]string{
		"sinks that push here: phones":           {"ls", "tablets"},
		"it is not said which devices are meant": {"revive", "phones"},
		"name it with --token TOKEN":             {"show", "phones"},
		`"soon" is no time`:                      {"ls", "--since", "soon"},
	} {
		r := s.do(t, "", append([]string{"push", "dead"}, args...)...)
		if r.code == 0 || !strings.Contains(r.stderr, hint) {
			fmt.Fprintf(&wrong, "%v: %+v\n", args, r)
		}
	}
	s.stop(t)
	if r := s.do(t, "", "push", "dead", "ls"); r.code == 0 || !strings.Contains(r.stderr, "has to run") {
		fmt.Fprintf(&wrong, "without a server: %+v\n", r)
	}
	if wrong.Len() > 0 {
		t.Error(wrong.String())
	}
}
