package accounts

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hikyaku/hikyaku/internal/caller/callertest"
)

// The accounts of the tests: that which hikyaku runs as, and another one.
const (
	served   = 65533
	stranger = 65534
)

var binary string

func TestMain(m *testing.M) {
	callertest.Become()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "hikyaku-accounts-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "hikyaku")
		build := exec.Command("go", "run", "-tags", "gms_pure_go", "-exec", "cp", "../../cmd/hikyaku", binary)
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// server is a hikyaku that runs.
type server struct {
	doors map[string]string // addresses by names
	said  string            // until all doors were open
}

// serve starts the program, where the test is root as the account served. It ends with the test.
func serve(t *testing.T, more string) *server {
	t.Helper()
	dir, program := callertest.Folder(t), binary
	socket := filepath.Join(dir, "mysql.sock")
	text := "data_dir: " + filepath.Join(dir, "data") + `
api:
  http: { listen: 127.0.0.1:0 }
  mysql: { listen: 127.0.0.1:0, socket: ` + socket + ` }
  pubsub: { listen: 127.0.0.1:0 }
  sqs: { listen: 127.0.0.1:0 }
  lambda: { listen: 127.0.0.1:0 }
` + more
	file := filepath.Join(dir, "h.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var as *syscall.SysProcAttr
	if os.Geteuid() == 0 {
		program = callertest.Open(t, binary)
		as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: served, Gid: served}}
		if err := os.Chown(dir, served, served); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), program, "serve", "-c", file)
	cmd.SysProcAttr, cmd.Dir = as, dir
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &server{doors: map[string]string{"socket": socket}}
	lines := bufio.NewScanner(out)
	for s.doors["http"] == "" && lines.Scan() { // it opens last
		s.said += lines.Text() + "\n"
		var name, addr string
		for word := range strings.FieldsSeq(lines.Text()) {
			if v, ok := strings.CutPrefix(word, "door="); ok {
				name = v
			} else if v, ok := strings.CutPrefix(word, "address="); ok {
				addr = v
			}
		}
		if name != "" {
			s.doors[name] = addr
		}
	}
	rest := make(chan struct{})
	go func() {
		defer close(rest)
		for lines.Scan() {
			t.Log(lines.Text())
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it has ended already, which Wait tells
		<-rest
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil {
			t.Errorf("serve: %v", err)
		}
	})
	if len(s.doors) != 6 {
		t.Fatalf("doors %v; it said\n%s", s.doors, s.said)
	}
	return s
}

// dial makes a connection as some account.
type dial func(ctx context.Context, network, addr string) (net.Conn, error)

// itself dials as the account of the test.
func itself(ctx context.Context, network, addr string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, addr)
}
