//go:build linux

package crash

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/machine"
)

// tight is how much memory the program has in these tests: beyond it the kernel ends it.
const tight = 300 << 20

// serveWithin starts the program with all doors in so much memory: in a control group of its own, where this machine
// lets us make one, so that the program finds the limit by itself and the kernel ends it beyond; else with the
// collector's limit and the account of bytes that it would have found. Which one it is is logged.
func serveWithin(t *testing.T, memory int64) *served {
	t.Helper()
	dir := t.TempDir()
	config := "data_dir: " + filepath.Join(dir, "data") + "\ndurability: os\n" +
		"api: { http: { listen: 127.0.0.1:0 }, mysql: { listen: 127.0.0.1:0, socket: none }, pubsub: { listen: " +
		"127.0.0.1:0 }, sqs: { listen: 127.0.0.1:0 }, lambda: { listen: 127.0.0.1:0, isolation: none } }\n"
	group, bound := groupOf(t, memory), ""
	if group == "" {
		t.Logf("%d MiB by GOMEMLIMIT and limits: no control group can be made here", memory>>20)
		bound = fmt.Sprintf("export GOMEMLIMIT=%d", memory*85/100)
		config += fmt.Sprintf("limits: { busy_bytes: %d }\n", memory/2)
	} else {
		t.Logf("%d MiB by the control group %s", memory>>20, group)
		bound = fmt.Sprintf("echo $$ > '%s/cgroup.procs'", group)
	}
	enter := filepath.Join(dir, "enter")
	if err := os.WriteFile(enter, fmt.Appendf(nil, "#!/bin/sh\n%s && exec '%s' \"$@\"\n", bound, binary),
		0o755); err != nil {
		t.Fatal(err)
	}
	s, err := tryServe(t, enter, config)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// groupOf makes a control group with a limit; "" where that is not to be.
func groupOf(t *testing.T, memory int64) string {
	groups := machine.Groups(true)
	for _, g := range []struct{ name, file string }{{"memory", "memory.limit_in_bytes"}, {"unified", "memory.max"}} {
		if groups[g.name] == "" {
			continue
		}
		dir := filepath.Join(groups[g.name], fmt.Sprintf("hikyaku-test-%d-%d", os.Getpid(), time.Now().UnixNano()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			// the kernel takes a moment to see that it is empty
			for end := time.Now().Add(patience); os.Remove(dir) != nil &&
				time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			}
		})
		if os.WriteFile(filepath.Join(dir, g.file), []byte(strconv.FormatInt(memory, 10)), 0o644) == nil {
			return dir
		}
	}
	return ""
}

// survived demands that the program is still there, and that it never had more memory than it may.
func (s *served) survived(t *testing.T, most int64) {
	t.Helper()
	select {
	case <-s.drained:
		_ = s.cmd.Wait()
		state := s.cmd.ProcessState
		s.cmd = nil
		t.Fatalf("the program ended: %v\n%s", state, s.log())
	default:
	}
	peak, ok := s.peak()
	if !ok {
		<-s.drained
		_ = s.cmd.Wait()
		t.Fatalf("the program ended: %v\n%s", s.cmd.ProcessState, s.log())
	}
	t.Logf("peak of memory: %d MiB", peak>>20)
	if peak > most {
		t.Errorf("it has used %d MiB, more than %d", peak>>20, most>>20)
	}
	s.signal(t, syscall.Signal(0))
}

// peak is the most memory that the program had so far, without the pages of its own file, which the kernel takes back
// when it wants to. A program that is ending has none.
func (s *served) peak() (bytes int64, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		if name != "VmHWM" && name != "RssFile" {
			continue
		}
		kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		if err != nil {
			return 0, false
		}
		if ok = true; name == "RssFile" {
			kb = -kb
		}
		bytes += kb << 10
	}
	return bytes, ok
}

// outcomes runs n requests at once and counts how they ended: acknowledged, refused for now, or anything else, which is
// an error.
func outcomes(t *testing.T, n int, request func(i int) (taken bool, refused bool, err error)) (taken, refused int) {
	t.Helper()
	type result struct {
		taken, refused bool
		err            error
	}
	results := make(chan result, n)
	for i := range n {
		go func() {
			var r result
			r.taken, r.refused, r.err = request(i)
			results <- r
		}()
	}
	for range n {
		switch r := <-results; {
		case r.taken:
			taken++
		case r.refused:
			refused++
		default:
			t.Errorf("neither acknowledged nor refused for now: %v", r.err)
		}
	}
	t.Logf("%d acknowledged, %d refused for now", taken, refused)
	return taken, refused
}

// patientWeb waits for answers as long as a test may take.
var patientWeb = &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 1}}

// TestEightPutsOf60MBNeedNoMoreThan300MB: each is acknowledged, or refused with what clients try again.
func TestEightPutsOf60MBNeedNoMoreThan300MB(t *testing.T) {
	t.Parallel()
	s := serveWithin(t, tight)
	body := bytes.Repeat([]byte("0123456789abcde\n"), 60<<20/16)
	url := "http://" + s.address(t, "http") + "/default/queues/big/messages"
	taken, _ := outcomes(t, 8, func(int) (bool, bool, error) {
		res, err := patientWeb.Post(url, "application/octet-stream", bytes.NewReader(body))
		if err != nil {
			return false, false, err
		}
		res.Body.Close()
		return res.StatusCode == 200, res.StatusCode == 503 && res.Header.Get("Retry-After") != "",
			fmt.Errorf("status %s", res.Status)
	})
	if taken == 0 {
		t.Error("none was taken")
	}
	if st := s.stats(t, "big"); int(st.Messages) != taken {
		t.Errorf("%d messages, %d were acknowledged", st.Messages, taken)
	}
	s.survived(t, tight)
}

// wide is a text of so many bytes.
func wide(n int) string { return strings.Repeat("0123456789abcde\n", (n+15)/16)[:n] }

// smallBuffer gives a socket as little room for what it is sent as the kernel allows.
func smallBuffer(_, _ string, c syscall.RawConn) error {
	var failed error
	if err := c.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET,
			syscall.SO_RCVBUF, 4096)
	}); err != nil {
		return err
	}
	return failed
}

// after is a channel that is ready so many milliseconds from now.
func after(ms int) <-chan time.Time { return time.After(time.Duration(ms) * time.Millisecond) }

// TestLongAttributesNeedNoMoreThan300MB puts messages of which hardly anything but attributes is kept, until they are
// refused: attributes stay in memory.
func TestLongAttributesNeedNoMoreThan300MB(t *testing.T) {
	t.Parallel()
	s := serveWithin(t, tight)
	body := []byte(fmt.Sprintf(`{"json": "x", "attributes": {"long": %q}}`, strings.Repeat("飛脚", 17_000)))
	url := "http://" + s.address(t, "http") + "/default/queues/long/messages"
	refused := ""
	kept := 0
	for ; kept < 6_000 && refused == ""; kept++ {
		res, err := patientWeb.Post(url, "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatalf("put %d: %v\n%s", kept, err, s.log())
		}
		answer, err := io.ReadAll(res.Body)
		res.Body.Close()
		switch {
		case err != nil || res.StatusCode != 200 && res.StatusCode != http.StatusTooManyRequests:
			t.Fatalf("put %d: %s %s %v", kept, res.Status, answer, err)
		case res.StatusCode != 200:
			refused = string(answer)
		}
	}
	t.Logf("%d messages were kept", kept-1)
	if !strings.Contains(refused, "bytes of memory") {
		t.Errorf("the last put was answered with %q", refused)
	}
	if kept < 500 {
		t.Errorf("only %d messages were kept", kept-1)
	}
	s.survived(t, tight)
}
