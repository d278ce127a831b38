package push_test

import (
	"bufio"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"software.sslmate.com/src/go-pkcs12"

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

// TestFirebaseAdminSendsToTheSandboxUnchanged runs Google's libraries: they believe that they talk to Google.
func TestFirebaseAdminSendsToTheSandboxUnchanged(t *testing.T) {
	good, gone := "good:"+strings.Repeat("registration-token-", 8), "gone:"+strings.Repeat("registration-token-", 8)
	account, err := fcm.NewAccount("news")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"fcm.googleapis.com", "iid.googleapis.com", "oauth2.googleapis.com", "www.googleapis.com"}
	far, err := fcm.Start(fcm.Config{Config: farend.Config{Names: names,
		Behaviour: farend.Behaviour{Devices: []farend.Device{{Tokens: []string{gone},
			Faults: []farend.Fault{{Do: farend.Refuse, Reason: "UNREGISTERED"}}}}}}, Accounts: []*fcm.Account{account}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := far.Close(); err != nil {
			t.Error(err)
		}
	}()
	proxy := "http://" + detour(t, far.Addr().String())
	dir := t.TempDir()
	file, ca := filepath.Join(dir, "account.json"), filepath.Join(dir, "ca.pem")
	for path, text := range map[string][]byte{file: account.JSON(far.TokenURL()), ca: far.Authority.PEM} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Java reads no PEM here, and no environment.
	trust, err := pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{authority(t, far.Authority.PEM)}, "changeit")
	if err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(dir, "trust.p12")
	if err := os.WriteFile(store, trust, 0o600); err != nil {
		t.Fatal(err)
	}
	host, port, _ := strings.Cut(strings.TrimPrefix(proxy, "http://"), ":")
	firebase := filepath.Join(program.clients, "firebase")
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "PYTHONDONTWRITEBYTECODE=1", "HTTPS_PROXY=" + proxy,
		"REQUESTS_CA_BUNDLE=" + ca, "NODE_EXTRA_CA_CERTS=" + ca}
	for name, c := range map[string]struct {
		checks  int
		command []string
	}{
		"python": {9, []string{filepath.Join(program.clients, "python", "bin", "python"), "-W",
			"ignore::DeprecationWarning", "python/firebase.py"}},
		"node": {8, []string{"node", "node/firebase.js", filepath.Join(program.clients, "node")}},
		"java": {8, []string{"java", "-XX:TieredStopAtLevel=1", "-Dhttps.proxyHost=" + host,
			"-Dhttps.proxyPort=" + port, "-Djavax.net.ssl.trustStore=" + store,
			"-Djavax.net.ssl.trustStorePassword=changeit", "-cp",
			firebase + string(os.PathListSeparator) + filepath.Join(firebase, "lib", "*"), "Firebase"}},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), c.command[0], append(c.command[1:], file, good, gone)...)
			cmd.Env = env
			checked(t, cmd, c.checks)
		})
	}
}

// authority is the certificate in a PEM.
func authority(t *testing.T, text []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(text)
	if block == nil {
		t.Fatalf("no PEM: %q", text)
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// checked runs a program whose lines are checks.
func checked(t *testing.T, cmd *exec.Cmd, want int) {
	t.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v; to install what it needs: scripts/need-clients", err)
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
	if err := cmd.Wait(); err != nil || checks != want {
		t.Errorf("%d checks, %v", checks, err)
	}
}
