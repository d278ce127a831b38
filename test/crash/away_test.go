//go:build linux

package crash

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hikyaku/hikyaku/internal/sandbox/webhook"
)

func TestMessagesWaitForAWebhookThatIsAwayAndTheLogSaysSo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s := serve(t, preamble(filepath.Join(dir, "data"))+`
sources: { waiting: { type: queue, queue: jobs } }
sinks:
  hook: { type: webhook, inputs: [waiting], url: "http://`+address+`/", request: { retry_attempts: 1, retry_initial_backoff_secs: 0.01, retry_max_duration_secs: 0.02 } }
`)
	s.put(t, "jobs", names(50)...)
	// By then each message could have been tried many times over.
	until(t, says("the log says that the step waits: %s", s.log()),
		func() bool { return strings.Count(s.log(), "a step waits, and tries again") >= 2 })
	hook, err := webhook.Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hook.Close() })
	until(t, says("all are delivered"), func() bool { return hook.Counts().Requests >= 50 })
	s.signal(t, syscall.SIGTERM)
	if state := s.wait(t); state.ExitCode() != 0 {
		t.Errorf("it ended with %v\n%s", state, s.log())
	}
	if m := ended.FindStringSubmatch(s.log()); m == nil || m[1] != "50" || m[2] != "0" {
		t.Errorf("of 50 messages: %q\n%s", m, s.log())
	}
	if log := s.log(); !strings.Contains(log, "step=hook") || !strings.Contains(log, "refused") ||
		!strings.Contains(log, "a step goes on") {
		t.Errorf("the log says: %s", log)
	}
}

// TestMessagesForAHostThatCannotBeReachedAreNotTried: a name without an address and an address without a route cost no
// tries, also over a restart; the log tells which it is.
func TestMessagesForAHostThatCannotBeReachedAreNotTried(t *testing.T) {
	t.Parallel()
	for host, reason := range map[string]string{
		"hook.invalid":    "lookup hook.invalid",
		"255.255.255.255": "network is unreachable", // no connection is ever made to a broadcast address
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			over := func(host string) *served {
				return serve(t, preamble(filepath.Join(dir, "data"))+`
sources: { waiting: { type: queue, queue: jobs } }
sinks:
  hook: { type: webhook, inputs: [waiting], url: "http://`+host+`/", request: { retry_attempts: 1, retry_initial_backoff_secs: 0.01, retry_max_duration_secs: 0.02 } }
`)
			}
			s := over(host)
			s.put(t, "jobs", names(50)...)
			until(t, says("the log says that the step waits: %s", s.log()),
				func() bool { return strings.Count(s.log(), "a step waits, and tries again") >= 2 })
			if log := s.log(); !strings.Contains(log, "step=hook") || !strings.Contains(log, reason) {
				t.Errorf("the log says: %s", log)
			}
			s.signal(t, os.Interrupt)
			if state := s.wait(t); state.ExitCode() != 0 {
				t.Errorf("it ended with %v\n%s", state, s.log())
			}
			if m := ended.FindStringSubmatch(s.log()); m == nil || m[1] != "0" || m[2] != "0" {
				t.Errorf("of messages that nobody was asked to take: %q\n%s", m, s.log())
			}
			hook, err := webhook.Listen("127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = hook.Close() })
			s = over(strings.TrimSuffix(strings.TrimPrefix(hook.URL(), "http://"), "/"))
			until(t, says("all are delivered"), func() bool { return hook.Counts().Requests >= 50 })
			s.signal(t, os.Interrupt)
			if state := s.wait(t); state.ExitCode() != 0 {
				t.Errorf("it ended with %v\n%s", state, s.log())
			}
			if m := ended.FindStringSubmatch(s.log()); m == nil || m[1] != "50" || m[2] != "0" {
				t.Errorf("of 50 messages: %q\n%s", m, s.log())
			}
		})
	}
}
