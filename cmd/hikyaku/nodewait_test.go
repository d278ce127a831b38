//go:build linux

package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/waittest"
)

// waitingNode starts a node of a cluster of two whose other node is not there.
func waitingNode(t *testing.T) (file, http string, pid int, env []string, log func() string) {
	t.Helper()
	dir := t.TempDir()
	http, data := freeAddress(t), filepath.Join(dir, "data")
	text := strings.Replace(onlyHTTP, "127.0.0.1:0", http, 1) + "cluster: { node: a, peers: { a: \"" + freeAddress(t) +
		"\", b: \"" + freeAddress(t) + "\" }, secret: " + strings.Repeat("secret", 6) + " }\n"
	file = filepath.Join(dir, "a.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env = []string{"HIKYAKU_DATA=" + data}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	out, err := command(ctx, env, "serve", "--detach", "-c", file).Output()
	said := regexp.MustCompile(`process (\d+)`).FindSubmatch(out)
	if err != nil || said == nil {
		t.Fatalf("the command waits for the other node: %v %s", err, out)
	}
	pid, _ = strconv.Atoi(string(said[1]))
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) }) // should the test end before
	return file, http, pid, env, func() string {
		b, _ := os.ReadFile(filepath.Join(data, "serve.log"))
		return string(b)
	}
}

func TestStatusAndStopKnowANodeThatWaitsForTheOthers(t *testing.T) {
	file, _, pid, env, log := waitingNode(t)
	waittest.Until(t, "its status says for whom it waits", func() bool {
		out, err := command(t.Context(), env, "cluster", "status", "-c", file).Output()
		return err == nil && strings.Contains(string(out), "waits for the others") &&
			strings.Contains(string(out), "node a has no log yet: connect to node b at ")
	})
	out, err := command(t.Context(), env, "cluster", "drain", "a", "-c", file).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "it has no log yet") {
		t.Errorf("it can be drained: %v %s", err, out)
	}
	out, err = command(t.Context(), env, "stop", "-c", file).CombinedOutput()
	if err != nil {
		t.Errorf("%v %s: %s", err, out, log())
	}
	waittest.Until(t, "it ends", func() bool { return syscall.Kill(pid, 0) != nil || zombie(pid) })
}

// Nodes are started one after the other: the first is a node while it waits for the others, and ends well.
func TestANodeThatWaitsForTheOthersRunsAndStops(t *testing.T) {
	file, http, pid, env, log := waitingNode(t)
	gone := func() bool { return syscall.Kill(pid, 0) != nil || zombie(pid) }
	if err := syscall.Kill(pid, syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "it reads its configuration again", func() bool {
		return strings.Contains(log(), "the configuration was read again") || gone()
	})
	if status, _, err := askAt(t, "GET", "http://"+http+"/livez", "", nil); err != nil || status != 200 {
		t.Errorf("after a SIGHUP: %d %v: %s", status, err, log())
	}
	if r := hikyaku(t, "", env, "stop", "-c", file); r.code != exitOK || !strings.Contains(r.stdout, "has stopped\n") {
		t.Fatalf("%+v", r)
	}
	waittest.Until(t, "it ends", gone)
	if strings.Contains(log(), "interrupted") || strings.Contains(log(), "canceled") {
		t.Errorf("it was told to stop, which is no mistake: %s", log())
	}
}

// zombie tells whether a process has ended and nobody has asked how.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ")
}
