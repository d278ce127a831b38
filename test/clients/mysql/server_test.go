package clients_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	user   = "worker"
	secret = "open sesame, 開けゴマ"
)

// server is a running hikyaku.
type server struct {
	guarded    bool // it has a user and a certificate
	host, port string
	socket     string
	authority  string // the file of the certificate's authority; "" without one
	cmd        *exec.Cmd
	ended      chan struct{} // closed: its standard error has ended

	mu    sync.Mutex
	lines []string // of its standard error
}

// serve starts hikyaku and waits until its MySQL door is open.
func serve(t *testing.T, guarded bool) *server {
	t.Helper()
	dir := socketDir(t)
	s := &server{guarded: guarded, socket: filepath.Join(dir, "mysqld.sock"), ended: make(chan struct{})}
	config := fmt.Sprintf("data_dir: %s\napi:\n  http: { listen: 127.0.0.1:0 }\n", filepath.Join(dir, "data"))
	if guarded {
		var cert, key string
		s.authority, cert, key = certificate(t, dir)
		config += fmt.Sprintf("  mysql: { listen: 127.0.0.1:0, socket: %s, tls: { cert: %s, key: %s } }\n", s.socket, cert, key)
		config += fmt.Sprintf("users:\n  - { name: %s, secret: %q, grants: [ { can: [put, take, admin], on: ['*'] } ] }\n", user, secret)
	} else {
		config += fmt.Sprintf("  mysql: { listen: 127.0.0.1:0, socket: %s }\n", s.socket)
	}
	path := filepath.Join(dir, "hikyaku.yaml")
	write(t, path, []byte(config))
	s.cmd = exec.Command(binary, "serve", "-c", path)
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stop(t) })
	address := make(chan string, 1)
	go s.drain(stderr, address)
	a, ok := <-address
	if !ok {
		t.Fatalf("serve ended without opening the door\n%s\n%s", config, s.log())
	}
	if s.host, s.port, err = net.SplitHostPort(a); err != nil {
		t.Fatal(err)
	}
	return s
}

// socketDir is a folder with a short path: that of a socket has to fit into about 100 bytes.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

var doorOpen = regexp.MustCompile(`door=mysql address=(\S+)`)

// drain keeps what the program says, and sends the door's address when it says that. It closes address at the end.
func (s *server) drain(stderr io.Reader, address chan<- string) {
	defer close(s.ended)
	defer close(address)
	sc := bufio.NewScanner(stderr)
	for sc.Scan() {
		s.mu.Lock()
		s.lines = append(s.lines, sc.Text())
		s.mu.Unlock()
		if m := doorOpen.FindStringSubmatch(sc.Text()); m != nil {
			address <- m[1]
		}
	}
}

// log is what the program has said so far.
func (s *server) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// stop ends the program cleanly. By then no client is connected; what they did must not have made it complain.
func (s *server) stop(t *testing.T) {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	late := time.AfterFunc(deadline, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	<-s.ended
	if err := s.cmd.Wait(); err != nil || strings.Contains(s.log(), "level=ERROR") || strings.Contains(s.log(), "panic") {
		t.Errorf("serve ended with %v\n%s", err, s.log())
	}
}

// environment tells a program where the server is.
func (s *server) environment(database string) []string {
	name, password := "root", ""
	if s.guarded {
		name, password = user, secret
	}
	return []string{
		"CLIENT_HOST=" + s.host, "CLIENT_PORT=" + s.port, "CLIENT_SOCKET=" + s.socket, "CLIENT_CA=" + s.authority,
		"CLIENT_USER=" + name, "CLIENT_PASSWORD=" + password, "CLIENT_DATABASE=" + database,
		"LC_ALL=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1",
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
