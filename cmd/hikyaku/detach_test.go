//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/hikyaku/hikyaku/internal/waittest"
)

const onlyHTTP = "data_dir: ${HIKYAKU_DATA}\napi: { http: { listen: \"127.0.0.1:0\" }, mysql: { off: true }, pubsub: " +
	"{ off: true }, sqs: { off: true }, lambda: { off: true } }\n"

// TestAServerThatIsDetachedIsThereWhenTheCommandEnds, cannot be started twice, and is ended by stop.
func TestAServerThatIsDetachedIsThereWhenTheCommandEnds(t *testing.T) {
	dir := t.TempDir()
	config, data := filepath.Join(dir, "serve.yaml"), filepath.Join(dir, "data")
	if err := os.WriteFile(config, []byte(onlyHTTP), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"HIKYAKU_DATA=" + data}
	// should the test end before
	t.Cleanup(func() { _ = command(context.Background(), env, "stop", "-c", config).Run() })
	r := hikyaku(t, "", env, "serve", "--detach", "-c", config)
	if r.code != exitOK || !strings.Contains(r.stdout, "hikyaku runs as process ") {
		t.Fatalf("%+v", r)
	}
	log, err := os.ReadFile(filepath.Join(data, "serve.log"))
	address := regexp.MustCompile(`door=http address=(\S+)`).FindSubmatch(log)
	if err != nil || address == nil {
		t.Fatalf("%v: %s", err, log)
	}
	if r := hikyaku(t, "", append(env, "HIKYAKU_URL=http://"+string(address[1])), "queue", "ls"); r.code != exitOK {
		t.Errorf("%+v", r)
	}
	r = hikyaku(t, "", env, "serve", "--detach", "-c", config)
	if r.code != exitFailed || !strings.Contains(r.stderr, "the server ended at once: exit status 1") ||
		!strings.Contains(r.stderr, "in use by another process") {
		t.Errorf("a second one: %+v", r)
	}
	if again, err := os.ReadFile(filepath.Join(data, "serve.log")); err != nil ||
		!strings.HasPrefix(string(again), string(log)) {
		t.Errorf("%v: the first one's log is lost: %s", err, again)
	}
	r = hikyaku(t, "", env, "stop", "-c", config)
	if r.code != exitOK || !strings.Contains(r.stdout, "has stopped\n") {
		t.Errorf("stop: %+v", r)
	}
	r = hikyaku(t, "", env, "stop", "-c", config)
	if r.code != exitFailed || !strings.Contains(r.stderr, "no hikyaku runs with data_dir "+data) {
		t.Errorf("a second stop: %+v", r)
	}
	r = hikyaku(t, "", env, "serve", "--detach", "-c", filepath.Join(dir, "none.yaml"))
	if r.code == exitOK || strings.Contains(r.stderr, "ended at once") {
		t.Errorf("a mistake is told before anything is started: %+v", r)
	}
}

// TestStopWaitsNoLongerThanItIsTold: the process may have much in flight. It is stopped itself here, and goes on later.
func TestStopWaitsNoLongerThanItIsTold(t *testing.T) {
	dir := t.TempDir()
	s := serveHere(t, dir, onlyHTTP)
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the server is stopped", func() bool { return stopped(s.cmd.Process.Pid) })
	r := hikyaku(t, "", []string{"HIKYAKU_DATA=" + filepath.Join(dir, "data")}, "stop", "-c",
		filepath.Join(dir, "serve.yaml"), "--wait", "100ms")
	if err := s.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if r.code != exitFailed || !strings.Contains(r.stderr, "has not stopped within 100ms") {
		t.Errorf("%+v", r)
	}
}

// stopped tells whether all threads of a process stand still.
func stopped(pid int) bool {
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, stat := range stats {
		if text, err := os.ReadFile(stat); err == nil && !strings.Contains(string(text), ") T ") {
			return false
		}
	}
	return len(stats) > 0
}
