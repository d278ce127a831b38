package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

// sent runs push send and reads what became of each.
func (s *served) sent(t *testing.T, code int, args ...string) []httpdoor.PushResult {
	t.Helper()
	r := s.do(t, `{"aps":{"alert":"hello"}}`, append([]string{"push", "send", "--json"}, args...)...)
	var results []httpdoor.PushResult
	if err := json.Unmarshal([]byte(r.stdout), &results); err != nil || r.code != code {
		t.Fatalf("%v: %+v, %v", args, r, err)
	}
	return results
}

func TestAPushSentByHandIsAnsweredWithWhatTheFarEndSays(t *testing.T) {
	dir := t.TempDir()
	good, gone, distrusted := strings.Repeat("a1", 32), strings.Repeat("b2", 32), strings.Repeat("c3", 32)
	behaviour := filepath.Join(dir, "behaviour.json")
	text := fmt.Sprintf(`{"devices":[{"tokens":[%q],"faults":[{"do":"refuse","reason":"Unregistered"}]},
		{"tokens":[%q],"faults":[{"do":"refuse","reason":"InvalidProviderToken"}]}]}`, gone, distrusted)
	if err := os.WriteFile(behaviour, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	far := sandboxHere(t, dir, "apns", "--behaviour", behaviour)
	google := sandboxHere(t, dir, "fcm")
	s := serveHere(t, dir, pushing(far)+fmt.Sprintf(`
  androids:
    type: fcm
    inputs: outbox
    message: '{notification: {title: .aps.alert}}'
    projects:
      news:
        account_file: hikyaku-sandbox/account-news.json
        endpoint: %s
        ca_file: hikyaku-sandbox/authority.pem
`, strings.TrimPrefix(google.url, "https://")))

	got := s.sent(t, exitFailed, "phones", "--token", good, "--token", gone, "--token", "no token", "--attr",
		"priority=5")
	if len(got) != 3 || got[0].Outcome != httpdoor.PushDelivered || !strings.EqualFold(got[0].Name, got[0].ID) ||
		got[0].Reason != "" {
		t.Errorf("delivered: %+v", got)
	}
	if got[1].Outcome != httpdoor.PushRefused || !strings.Contains(got[1].Reason, "Unregistered") || got[1].Name != "" {
		t.Errorf("gone: %+v", got[1])
	}
	if got[2].Outcome != httpdoor.PushRefused || !strings.Contains(got[2].Reason, "BadDeviceToken") {
		t.Errorf("no token: %+v", got[2])
	}
	if got := s.sent(t, exitFailed, "phones", "--token", gone); !strings.Contains(got[0].Reason, "gone since") {
		t.Errorf("gone, again: %+v", got)
	}
	got = s.sent(t, exitOK, "androids", "--token", strings.Repeat("android:token-", 8))
	if !strings.HasPrefix(got[0].Name, "projects/news/messages/") || got[0].Outcome != httpdoor.PushDelivered {
		t.Errorf("FCM: %+v", got)
	}
	if r := s.do(t, "", "push", "send", "phones", "--token", good, "--body",
		`{"aps":{"alert":"hello"}}`); r.code != exitOK ||
		!strings.Contains(r.stdout, "delivered") || !strings.Contains(r.stdout, good[:16]) ||
		strings.Contains(r.stdout, good) {
		t.Errorf("as a table: %+v", r)
	}
	// A far end that does not take our word lets the whole app rest.
	for _, c := range [][2]string{{distrusted, httpdoor.PushFailed}, {good, httpdoor.PushHeld}} {
		got := s.sent(t, exitFailed, "phones", "--token", c[0])
		if got[0].Outcome != c[1] || got[0].RetryAfter == 0 ||
			!strings.Contains(got[0].Reason, "InvalidProviderToken") {
			t.Errorf("held: %+v", got)
		}
	}
	if c := far.counts(t); c.Messages != 2 || c.Refused["InvalidProviderToken"] != 1 {
		t.Errorf("the far end: %+v", c)
	}
	if r := s.do(t, "{}", "push", "send", "outbox"); r.code != exitFailed ||
		!strings.Contains(r.stderr, "androids, phones") {
		t.Errorf("no sink: %+v", r)
	}
	s.refuses(t, good)
}

// refuses sends what the door takes no push of.
func (s *served) refuses(t *testing.T, token string) {
	t.Helper()
	one := fmt.Sprintf(`{"attributes":{"token":%q},"json":{"aps":{}}`, token)
	for name, c := range map[string]struct {
		path, body string
		status     int
	}{
		"too many": {"/default/push/phones", `{"messages":[` + strings.Repeat(one+"},", 100) + one + "}]}",
			400},
		"of a queue":        {"/default/push/phones", one + `,"delay":"5s"}`, 400},
		"too long":          {"/default/push/phones", `{"body":"` + strings.Repeat("x", 1<<20+1) + `"}`, 413},
		"no time":           {"/default/push/phones?timeout=2m", one + "}", 400},
		"another namespace": {"/other/push/phones", one + "}", 404},
	} {
		answer, err := http.Post(s.url+c.path, "application/json", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != c.status {
			t.Errorf("%s: status %d, not %d", name, answer.StatusCode, c.status)
		}
	}
}
