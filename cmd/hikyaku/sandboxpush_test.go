package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// sandboxed is a running `hikyaku sandbox …` in a folder of its own.
type sandboxed struct {
	text    string // what it printed at its start
	url     string
	control string
	stderr  written
	process *os.Process
	killed  bool
}

// written is what a program has written so far.
type written struct {
	mu   sync.Mutex
	text []byte
}

func (s *written) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, b...)
	return len(b), nil
}

func (s *written) has(part string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(string(s.text), part)
}

// sandboxHere starts a far end of the real program; the test's end stops it.
func sandboxHere(t *testing.T, dir string, args ...string) *sandboxed {
	t.Helper()
	return sandboxAt(t, dir, "127.0.0.1:0", args...)
}

// sandboxAt is one at an address.
func sandboxAt(t *testing.T, dir, address string, args ...string) *sandboxed {
	t.Helper()
	cmd := command(context.Background(), nil,
		append([]string{"sandbox"}, append(args, "--listen", address, "--control", "127.0.0.1:0")...)...)
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s := &sandboxed{}
	cmd.Stderr = &s.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.process = cmd.Process
	sc := bufio.NewScanner(out)
	for sc.Scan() {
		s.text += sc.Text() + "\n"
		if m := regexp.MustCompile(`http://\S+/-/`).FindString(sc.Text()); m != "" {
			s.control = m
			break
		}
	}
	s.url = regexp.MustCompile(`https://\S+`).FindString(s.text)
	if s.control == "" || s.url == "" {
		t.Fatalf("it printed:\n%s", s.text)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
		last := ""
		for sc.Scan() {
			last = sc.Text()
		}
		if err := cmd.Wait(); !s.killed && (err != nil || !strings.Contains(last, "requests")) {
			t.Errorf("it ended with %v and the words %q", err, last)
		}
	})
	return s
}

// kill ends it as a power cut would.
func (s *sandboxed) kill(t *testing.T) {
	t.Helper()
	if s.killed = true; s.process.Kill() != nil {
		t.Error("it has ended already")
	}
}

// trusting is a client that trusts a folder's authority.
func trusting(t *testing.T, dir string) *http.Client {
	t.Helper()
	pem, err := os.ReadFile(filepath.Join(dir, "hikyaku-sandbox", "authority.pem"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		t.Fatal("authority.pem holds no certificate")
	}
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 20 * time.Second}
}

func TestTheFarEndsForPushesServeAndCanBeTold(t *testing.T) {
	dir := t.TempDir()
	for kind, probe := range map[string]struct {
		path, says string
		settings   []string
	}{
		"apns": {"/3/device/00", `{"reason":"MissingProviderToken"}`,
			[]string{"type: apns", "key_file: hikyaku-sandbox/AuthKey_KEY1234567.p8",
				"cert_file: hikyaku-sandbox/client-com.example.news.pem"}},
		"fcm": {"/v1/projects/news/messages:send", `"status":"UNAUTHENTICATED"`,
			[]string{"type: fcm", "account_file: hikyaku-sandbox/account-news.json"}},
		"hms": {"/v1/100123456/messages:send", `"code":"80200001"`,
			[]string{"type: hms", "secret_file: hikyaku-sandbox/hms-100123456.secret"}},
		"wns": {"/?token=x", "",
			[]string{"type: wns", "secret_file: hikyaku-sandbox/wns.secret", "/?token=AwYAAAB"}},
		"webpush": {"/push/nobody", "there is no such subscription",
			[]string{"type: webpush", "key_file: hikyaku-sandbox/vapid.pem", `"p256dh":`}},
	} {
		t.Run(kind, func(t *testing.T) {
			s := sandboxHere(t, dir, kind)
			for _, line := range probe.settings {
				if !strings.Contains(s.text, line) {
					t.Errorf("%q is not among what it printed:\n%s", line, s.text)
				}
			}
			resp, err := trusting(t, dir).Post(s.url+probe.path, "application/json", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if text, err := io.ReadAll(resp.Body); err != nil || !strings.Contains(string(text), probe.says) ||
				(resp.ProtoMajor == 2) != (kind != "wns") {
				t.Errorf("%s %s %v", resp.Proto, text, err)
			}
			req, err := http.NewRequest("PATCH", s.control+"behaviour", strings.NewReader(`{"streams": 3}`))
			if err != nil {
				t.Fatal(err)
			}
			told, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			told.Body.Close()
			asked, err := http.Get(s.control + "counts")
			if err != nil {
				t.Fatal(err)
			}
			defer asked.Body.Close()
			var n farend.Counts
			if err := json.NewDecoder(asked.Body).Decode(&n); err != nil || told.StatusCode != 204 || n.Requests != 1 {
				t.Errorf("told: %d; counts: %+v, %v", told.StatusCode, n, err)
			}
		})
	}
}

func TestFarEndsThatStartAtOnceShareOneAuthority(t *testing.T) {
	p := &pushFlags{dir: filepath.Join(t.TempDir(), "new")}
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[string]bool{}
	for range 8 {
		wg.Go(func() {
			a, err := p.authority()
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			seen[string(a.KeyPEM)] = true
		})
	}
	wg.Wait()
	if len(seen) != 1 {
		t.Errorf("%d authorities", len(seen))
	}
	if left, err := filepath.Glob(filepath.Join(p.dir, "*.pem.*")); err != nil || len(left) > 0 {
		t.Errorf("drafts are left: %v, %v", left, err)
	}
}

func TestAWrongBehaviourIsRefusedAtTheStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.json")
	if err := os.WriteFile(path, []byte(`{"faults":[{"do":"refuse","reason":"BadLuck"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got := hikyaku(t, "", nil, "sandbox", "apns", "--listen", "127.0.0.1:0", "--dir", t.TempDir(), "--behaviour", path)
	if got.code == 0 || !strings.Contains(got.stderr, "BadDeviceToken") {
		t.Errorf("%+v", got)
	}
}
