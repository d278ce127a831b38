package conformance

import (
	"bufio"
	"io"
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

// Server is a running hikyaku. A test's cleanup stops it, and fails the test if that was not clean.
type Server struct {
	Address string // of the door, host:port

	binary string
	path   string                                   // of the configuration
	change func(t *testing.T, config string) string // what the program is given of it
	door   *regexp.Regexp
	owns   *regexp.Regexp // of a node: it owns the shard, and the door is open there
	cmd    *exec.Cmd
	ended  chan struct{} // closed: its standard error has ended

	mu    sync.Mutex
	lines []string // of its standard error
}

// Serve starts a program in a folder, with a configuration that it writes there, and waits until the named door is
// open.
func Serve(t *testing.T, binary, dir, config, door string) *Server {
	t.Helper()
	if os.Getenv(clusterVar) != "" {
		return ServeCluster(t, binary, dir, config, door)
	}
	s := newServer(binary, filepath.Join(dir, "hikyaku.yaml"), door)
	t.Cleanup(func() { s.stop(t) })
	s.start(t, config)
	return s
}

func newServer(binary, path, door string) *Server {
	address := `door=` + regexp.QuoteMeta(door) + ` address=(\S+)`
	return &Server{binary: binary, path: path, door: regexp.MustCompile(address),
		owns:   regexp.MustCompile(`msg="door open" ` + address),
		change: func(_ *testing.T, config string) string { return config }}
}

// Restart kills the program as a power cut would, and starts it again with another configuration, which should open the
// door at the same address.
func (s *Server) Restart(t *testing.T, config string) {
	t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	_ = s.cmd.Wait() // it was killed
	s.start(t, config)
}

func (s *Server) start(t *testing.T, config string) {
	t.Helper()
	config = s.change(t, config)
	if err := os.WriteFile(s.path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(s.binary, "serve", "-c", s.path)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.cmd, s.ended = cmd, make(chan struct{})
	address := make(chan string, 1)
	go s.drain(stderr, s.ended, address)
	a, ok := <-address
	if !ok {
		t.Fatalf("serve ended without opening the door\n%s\n%s", config, s.log())
	}
	s.Address = a
}

// Door is the address of another door, which was open before the one that was waited for; "" if it was not.
func (s *Server) Door(name string) string {
	m := regexp.MustCompile(`door=` + regexp.QuoteMeta(name) + ` address=(\S+)`).FindStringSubmatch(s.log())
	if m == nil {
		return ""
	}
	return m[1]
}

// Folder makes a folder with a short path: that of a socket in it has to fit into about 100 bytes.
func Folder(t *testing.T) string {
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

// drain keeps what the program says, and sends the door's address when it says that. It closes address at the end.
func (s *Server) drain(stderr io.Reader, ended chan<- struct{}, address chan<- string) {
	defer close(ended)
	defer close(address)
	sent := false
	sc := bufio.NewScanner(stderr)
	for sc.Scan() {
		s.mu.Lock()
		s.lines = append(s.lines, sc.Text())
		s.mu.Unlock()
		if m := s.door.FindStringSubmatch(sc.Text()); m != nil && !sent {
			address <- m[1]
			sent = true
		}
	}
}

// log is what the program has said so far.
func (s *Server) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// stop ends the program cleanly. By then no client is connected; what they did must not have made it complain.
func (s *Server) stop(t *testing.T) {
	if s.cmd == nil {
		return // it never began
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	late := time.AfterFunc(Deadline, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	<-s.ended
	if err := s.cmd.Wait(); err != nil || strings.Contains(s.log(), "level=ERROR") ||
		strings.Contains(s.log(), "panic") {
		t.Errorf("serve ended with %v\n%s", err, s.log())
	}
}
