package push_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/freeport"
)

// TestNghttpdTakesWhatWeSend pushes through few streams to a server that knows HTTP/2 and nothing of pushes: each
// request is a whole one.
func TestNghttpdTakesWhatWeSend(t *testing.T) {
	t.Parallel()
	const pushes, streams = 2000, 7
	b := newBadges(t)
	devices := filepath.Join(b.dir, "www", "3", "device")
	if err := os.MkdirAll(devices, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(devices, device(1)), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	addr, log := startNghttpd(t, b, streams)
	var in []map[string]any
	for n := range pushes {
		in = append(in, map[string]any{"text": fmt.Sprint("news ", n), "token": device(1)})
	}
	status, said := hikyaku(t.Context(), t, b.dir, sending(b, addr), lines(t, in))
	if status != 0 {
		t.Fatalf("exit status %d\n%s", status, said)
	}
	text := log()
	for what, want := range map[string]int{
		`\) :method: POST`:                          pushes,
		`\) :path: /3/device/` + device(1):          pushes,
		`\) :scheme: https`:                         pushes,
		`\) apns-topic: ` + regexp.QuoteMeta(topic): pushes,
		`\) apns-push-type: alert`:                  pushes,
		`\) authorization: bearer [\w.-]{100,}`:     pushes,
		`:status: 200`:                              pushes,
	} {
		if n := len(regexp.MustCompile(what).FindAllString(text, -1)); n != want {
			t.Errorf("%d times %s, want %d", n, what, want)
		}
	}
	for _, bad := range []string{"[id=2]", "RST_STREAM", "GOAWAY frame <length=8, flags=0x00, stream_id=0>\n         " +
		" (last_stream_id=0, error_code=PROTOCOL_ERROR", "error_code=FLOW_CONTROL"} {
		if strings.Contains(text, bad) {
			t.Errorf("nghttpd says %s", bad)
		}
	}
}

// startNghttpd starts nghttpd, and returns where it listens and a function that ends it and returns what it said.
func startNghttpd(t *testing.T, b badges, streams int) (string, func() string) {
	t.Helper()
	found, err := freeport.Find(1)
	if err != nil {
		t.Fatal(err)
	}
	addr := found[0]
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("nghttpd", "-v", "-a", "127.0.0.1", "-d", filepath.Join(b.dir, "www"), "-m",
		strconv.Itoa(streams), port, b.key, b.cert)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v; to install it: scripts/need-clients", err)
	}
	var text strings.Builder
	listening, drained := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(drained)
		tell := sync.OnceFunc(func() { close(listening) })
		defer tell()
		for sc := bufio.NewScanner(out); sc.Scan(); {
			text.WriteString(sc.Text() + "\n")
			if strings.Contains(sc.Text(), ": listen ") {
				tell()
			}
		}
	}()
	stop := sync.OnceFunc(func() {
		_ = cmd.Process.Kill() // it knows no other end
		<-drained
		_ = cmd.Wait()
	})
	t.Cleanup(stop)
	<-listening
	return addr, func() string { stop(); return text.String() }
}
