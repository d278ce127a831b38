package push_test

import (
	"bufio"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/apns"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

const (
	topic = "com.example.news"
	team  = "TEAM123456"
	keyID = "KEY1234567"
)

// badges are the files that a far end and hikyaku know each other by.
type badges struct{ dir, ca, cert, key, signer, verifier string }

func newBadges(t *testing.T) badges {
	t.Helper()
	authority, err := farend.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	server, err := authority.Server()
	if err != nil {
		t.Fatal(err)
	}
	serverKey, err := x509.MarshalPKCS8PrivateKey(server.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := apns.NewKey(team, keyID)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := x509.MarshalPKIXPublicKey(signer.Public)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	block := func(kind string, der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}) }
	return badges{
		dir: dir, ca: file("ca.pem", authority.PEM),
		cert: file("server.pem", block("CERTIFICATE", server.Certificate[0])),
		key:  file("server.key", block("PRIVATE KEY", serverKey)), signer: file("signer.p8", signer.PEM),
		verifier: file("signer.pub", block("PUBLIC KEY", verifier)),
	}
}

// seen is a push as pushy understood it.
type seen struct {
	Rejected   string
	Token      string
	Topic      string
	Payload    string
	Expiration int64
	Priority   int
	PushType   string `json:"push_type"`
	CollapseID string `json:"collapse_id"`
	ID         string
}

// mock is pushy's server.
type mock struct {
	addr   string
	pushes <-chan seen
	stop   func() // ends it, and then pushes
}

// startMock starts pushy's server for the devices of these tokens.
func startMock(t *testing.T, b badges, tokens, gone string) *mock {
	t.Helper()
	path := filepath.Join(program.clients, "classes") + string(os.PathListSeparator) + filepath.Join(program.clients,
		"java", "*")
	cmd := exec.Command("java", "-XX:TieredStopAtLevel=1", "-cp", path, "Mock", "--cert", b.cert, "--key", b.key,
		"--verify", b.verifier,
		"--team-id", team, "--key-id", keyID, "--topic", topic, "--tokens", tokens, "--gone", gone)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v; to install what it needs: scripts/need-clients", err)
	}
	lines := bufio.NewReader(out)
	var at struct{ Addr string }
	first, err := lines.ReadBytes('\n')
	if err != nil || json.Unmarshal(first, &at) != nil {
		_ = cmd.Wait()
		t.Fatalf("pushy's server said %q (%v); to install what it needs: scripts/need-clients", first, err)
	}
	pushes, drained := make(chan seen, mostSeen), make(chan struct{})
	go func() {
		defer close(drained)
		defer close(pushes)
		read := json.NewDecoder(lines)
		for {
			var s seen
			if err := read.Decode(&s); err != nil {
				return
			}
			pushes <- s
		}
	}()
	stop := sync.OnceFunc(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		<-drained
		if err := cmd.Wait(); err != nil {
			t.Errorf("pushy's server: %v", err)
		}
	})
	t.Cleanup(stop)
	return &mock{at.Addr, pushes, stop}
}

// mostSeen is how many pushes a test may have.
const mostSeen = 10_000

// hikyaku runs the program over a configuration with messages as its standard input, and returns its exit status and
// what it complained about.
func hikyaku(ctx context.Context, t *testing.T, dir, config string, in io.Reader) (int, string) {
	t.Helper()
	path := filepath.Join(dir, "push.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program.binary, "run", "-c", path)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdin = in
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}
