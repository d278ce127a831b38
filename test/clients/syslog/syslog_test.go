//go:build linux

package syslog_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hikyaku/hikyaku/internal/waittest"
)

// server is a program whose source of syslog writes into a file.
type server struct {
	t             *testing.T
	dir, address  string
	configuration string
	cmd           *exec.Cmd
	stderr        bytes.Buffer
}

// serve starts the program with these settings of the source.
func serve(t *testing.T, settings string) *server {
	t.Helper()
	// The port is the same after a restart. Another program may take it meanwhile, but hardly does.
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	s := &server{t: t, dir: t.TempDir(), address: free.Addr().String()}
	t.Cleanup(func() { // after the program has ended
		if t.Failed() {
			t.Logf("it said:\n%s", s.stderr.String())
		}
	})
	s.configuration = fmt.Sprintf(`data_dir: %[1]s/data
sources: { in: { type: syslog, listen: "%[2]s", %[3]s }, kept: { type: queue, queue: kept } }
sinks:
  keep: { type: queue, inputs: [in], queue: kept }
  out: { type: file, inputs: [kept], path: %[1]s/out, encoding: { codec: message } }
`, s.dir, s.address, strings.ReplaceAll(settings, "DIR", s.dir))
	return s
}

func (s *server) start() *server {
	s.t.Helper()
	path := filepath.Join(s.dir, "hikyaku.yaml")
	if err := os.WriteFile(path, []byte(s.configuration), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.cmd = exec.Command(binary, "run", "-c", path)
	s.cmd.Stderr = &s.stderr
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(s.stop)
	_, port, _ := strings.Cut(s.address, ":")
	waittest.Until(s.t, "the source listens", func() bool { return listens(s.t, port) })
	return s
}

// listens tells whether somebody has the port, without a connection to it.
func listens(t *testing.T, port string) bool {
	t.Helper()
	out, err := os.ReadFile("/proc/net/tcp")
	more, merr := os.ReadFile("/proc/net/udp")
	if err != nil || merr != nil {
		t.Fatal(err, merr)
	}
	var n int
	if _, err := fmt.Sscan(port, &n); err != nil {
		t.Fatal(err)
	}
	local := fmt.Sprintf(" 0100007F:%04X 00000000:0000 ", n)
	return strings.Contains(string(out), local+"0A") || strings.Contains(string(more), local)
}

func (s *server) stop() {
	if s.cmd == nil {
		return
	}
	cmd := s.cmd
	s.cmd = nil
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		s.t.Errorf("%v\n%s", err, s.stderr.String())
	}
}

type got struct {
	Body       string
	Attributes map[string]any
}

// messages are those that have come to the file.
func (s *server) messages() (all []got) {
	s.t.Helper()
	text, _ := os.ReadFile(filepath.Join(s.dir, "out")) // there is none at first
	for line := range strings.Lines(string(text)) {
		var g got
		if !strings.HasSuffix(line, "\n") {
			break // is being written
		}
		if err := json.Unmarshal([]byte(line), &g); err != nil {
			s.t.Fatalf("%v: %s", err, line)
		}
		all = append(all, g)
	}
	return all
}

func TestWhatLoggerSends(t *testing.T) {
	for _, mode := range []string{"tcp", "udp"} {
		s := serve(t, "mode: "+mode).start()
		_, port, _ := strings.Cut(s.address, ":")
		n := 0
		send := func(args ...string) got {
			t.Helper()
			args = append([]string{"--server", "127.0.0.1", "--port", port, "--" + mode, "--priority", "local3.err"},
				args...)
			if out, err := exec.Command("logger", append(args, "the disk is full")...).CombinedOutput(); err != nil {
				t.Fatalf("%q: %v: %s", args, err, out)
			}
			n++
			waittest.Until(t, "the message has come", func() bool { return len(s.messages()) >= n })
			return s.messages()[n-1]
		}
		wants := func(g got, want map[string]any) {
			t.Helper()
			for name, value := range want {
				if g.Attributes[name] != value {
					t.Errorf("%s is %v, not %v", name, g.Attributes[name], value)
				}
			}
			if g.Body != "the disk is full" || g.Attributes["hostname"] == nil || g.Attributes["timestamp"] == nil {
				t.Errorf("%+v", g)
			}
		}
		common := map[string]any{"facility": "local3", "severity": "err", "appname": "app"}
		counted := [][]string{nil}
		if mode == "tcp" {
			counted = append(counted, []string{"--octet-count"})
		}
		for _, framing := range counted {
			wants(send(append(framing, "--rfc3164", "--tag", "app")...), common)
			g := send(append(framing, "--rfc5424", "--tag", "app", "--id=77", "--msgid", "M1", "--sd-id", "a@1",
				"--sd-param", `b="c"`)...)
			wants(g, common)
			wants(g, map[string]any{"msgid": "M1", "procid": "77", "a@1.b": "c"})
		}
	}
}

// TestRsyslogLosesNothingThroughRestarts: each stop is clean, so rsyslog finds its connection closed before it sends
// more, and keeps the rest in its queue on the disk. With TLS there are no restarts: the OpenSSL driver of rsyslogd
// 8.2302 reads from descriptors that it has closed when a connection ends, waits there for ever now and then, and loses
// a line at times. The tests of the source stop it under senders over TLS.
func TestRsyslogLosesNothingThroughRestarts(t *testing.T) {
	for _, secure := range []bool{false, true} {
		settings, driver := "mode: tcp", ""
		dir := t.TempDir()
		if secure {
			settings = fmt.Sprintf("tls: { cert: %s/cert.pem, key: %[1]s/key.pem }", dir)
			if out, err := exec.Command("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
				"ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost", "-keyout", dir+"/key.pem", "-out",
				dir+"/cert.pem").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			driver = `StreamDriver="ossl" StreamDriverMode="1" StreamDriverAuthMode="anon"`
		}
		s := serve(t, settings).start()
		const lines = 20_000
		input := filepath.Join(dir, "input.log")
		if err := os.WriteFile(input, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		sender(t, dir, input, s.address, driver)
		log, err := os.OpenFile(input, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		for i := range lines {
			if _, err := fmt.Fprintf(log, "line %05d\n", i); err != nil {
				t.Fatal(err)
			}
			if !secure && i%(lines/4) == lines/8 { // four restarts, in the middle of what is sent
				waittest.Until(t, "half of what was written has come", func() bool { return len(s.messages()) > i/2 })
				s.stop()
				s.start()
			}
		}
		counts := map[string]int{}
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("%d of %d lines came", len(counts), lines)
			}
		})
		waittest.Until(t, "all lines have come", func() bool {
			clear(counts)
			for _, g := range s.messages() {
				counts[strings.TrimSpace(g.Body)]++
			}
			return len(counts) >= lines
		})
		doubles := 0
		for n := range maps.Values(counts) {
			doubles += n - 1
		}
		if len(counts) != lines {
			t.Errorf("%d different lines came of %d", len(counts), lines)
		}
		t.Logf("TLS %v: %d lines, %d of them twice", secure, len(counts), doubles)
	}
}

// sender runs rsyslogd, which sends the lines of a file. Its queue has room for all of them: the default is 1,000, and
// what has waited 2 s for room is dropped, which a restart on a slow machine takes.
func sender(t *testing.T, dir, input, address, driver string) {
	t.Helper()
	host, port, _ := strings.Cut(address, ":")
	authority := ""
	if driver != "" {
		authority = fmt.Sprintf(" DefaultNetstreamDriverCAFile=%q", filepath.Join(dir, "cert.pem"))
	}
	config := fmt.Sprintf(`global(workDirectory="%[1]s"%[6]s)
module(load="imfile")
input(type="imfile" File="%[2]s" Tag="app:" ruleset="out")
ruleset(name="out") {
  action(type="omfwd" target="%[3]s" port="%[4]s" protocol="tcp" template="RSYSLOG_SyslogProtocol23Format"
    TCP_Framing="octet-counted" action.resumeRetryCount="-1" action.resumeInterval="1" %[5]s
    queue.type="Disk" queue.filename="out" queue.maxDiskSpace="100m" queue.size="100000"
    queue.saveOnShutdown="on")
}
`, dir, input, host, port, driver, authority)
	path := filepath.Join(dir, "rsyslog.conf")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("rsyslogd", "-n", "-f", path, "-i", filepath.Join(dir, "pid"))
	var told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &told, &told
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v\nTo install what the clients need: scripts/need-clients syslog", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Log(told.String())
		}
	})
}
