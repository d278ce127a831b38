package push_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/fcm"
)

// detour is an HTTP proxy that leads every connection to one address, so that clients which know no other than Google's
// come to the sandbox. They ask it as the environment says.
func detour(t *testing.T, to string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		far, err := net.Dial("tcp", to)
		if err != nil || r.Method != http.MethodConnect {
			http.Error(w, "only CONNECT", http.StatusMethodNotAllowed)
			return
		}
		w.WriteHeader(http.StatusOK)
		near, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			far.Close()
			return
		}
		all.Go(func() { _, _ = io.Copy(far, buffered); far.Close() }) // until the client ends it
		all.Go(func() { _, _ = io.Copy(near, far); near.Close() })
	})}
	all.Go(func() { _ = server.Serve(l) }) // it ends by Close
	t.Cleanup(func() { _ = server.Close(); all.Wait() })
	return l.Addr().String()
}

// TestFirebaseAdminSendsToTheSandboxUnchanged runs Google's library for Python: it believes that it talks to Google.
func TestFirebaseAdminSendsToTheSandboxUnchanged(t *testing.T) {
	good, gone := "good:"+strings.Repeat("registration-token-", 8), "gone:"+strings.Repeat("registration-token-", 8)
	account, err := fcm.NewAccount("news")
	if err != nil {
		t.Fatal(err)
	}
	far, err := fcm.Start(fcm.Config{Config: farend.Config{Names: []string{"fcm.googleapis.com", "iid.googleapis.com"},
		Behaviour: farend.Behaviour{Devices: []farend.Device{{Tokens: []string{gone},
			Faults: []farend.Fault{{Do: farend.Refuse, Reason: "UNREGISTERED"}}}}}}, Accounts: []*fcm.Account{account}})
	if err != nil {
		t.Fatal(err)
	}
	proxy := detour(t, far.Addr().String())
	dir := t.TempDir()
	file, ca := filepath.Join(dir, "account.json"), filepath.Join(dir, "ca.pem")
	for path, text := range map[string][]byte{file: account.JSON(far.TokenURL()), ca: far.Authority.PEM} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(built.clients, "python", "bin", "python"),
		"-W", "ignore::DeprecationWarning", "python/firebase.py", file, good, gone)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "PYTHONDONTWRITEBYTECODE=1",
		"HTTPS_PROXY=http://" + proxy, "REQUESTS_CA_BUNDLE=" + ca, "SSL_CERT_FILE=" + ca}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v; to install what it needs: make clients-python", err)
	}
	checks := 0
	for lines := bufio.NewScanner(out); lines.Scan(); checks++ {
		var c struct{ Check, Wrong string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Errorf("it said %q", lines.Text())
			continue
		}
		t.Run(c.Check, func(t *testing.T) {
			if c.Wrong != "" {
				t.Error(c.Wrong)
			}
		})
	}
	if err := cmd.Wait(); err != nil || checks != 9 {
		t.Errorf("%d checks, %v", checks, err)
	}
	if err := far.Close(); err != nil {
		t.Error(err)
	}
}
