//go:build linux

package crash

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// preamble is what a configuration begins with: where the data is, and a door on a free port.
func preamble(dataDir string) string {
	return "data_dir: " + dataDir + "\napi: { http: { listen: 127.0.0.1:0 }, mysql: { off: true }, pubsub: { off: " +
		"true }, sqs: { off: true }, lambda: { off: true } }\n"
}

// served is a running `hikyaku serve`.
type served struct {
	cmd     *exec.Cmd
	client  *httpdoor.Client
	drained chan struct{} // closed: its standard error has ended

	mu    sync.Mutex
	lines []string // of its standard error
}

var doorOpen = regexp.MustCompile(`door=(\S+) address=(\S+)`)

// serve starts the program with a configuration and waits until its door is open.
func serve(t *testing.T, config string, args ...string) *served {
	t.Helper()
	s, err := tryServe(t, binary, config, args...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// tryServe is serve of a program for a start that may be refused.
func tryServe(t *testing.T, program, config string, args ...string) (*served, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "serve.yaml")
	write(t, path, config)
	cmd := exec.Command(program, append([]string{"serve", "-c", path}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &served{cmd: cmd, drained: make(chan struct{})}
	address := make(chan string, 1)
	go s.drain(stderr, address)
	t.Cleanup(s.kill)
	a, ok := <-address
	if !ok {
		<-s.drained
		err := cmd.Wait()
		s.cmd = nil
		return nil, fmt.Errorf("serve ended without opening its door: %w\n%s", errOf(err), s.log())
	}
	s.client, err = httpdoor.NewClient(httpdoor.ClientConfig{URL: "http://" + a})
	return s, err
}

func errOf(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// drain keeps what the program says, and sends the door's address when it says that. It closes address at the end.
func (s *served) drain(stderr io.Reader, address chan<- string) {
	defer close(s.drained)
	defer close(address)
	sc := bufio.NewScanner(stderr)
	for told := false; sc.Scan(); {
		s.mu.Lock()
		s.lines = append(s.lines, sc.Text())
		s.mu.Unlock()
		if m := doorOpen.FindStringSubmatch(sc.Text()); m != nil && m[1] == "http" && !told {
			told = true // a node of a cluster says so whenever it owns the shard
			address <- m[2]
		}
	}
}

// log is what the program has said so far.
func (s *served) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// address is where a door listens. It waits until the door is open.
func (s *served) address(t *testing.T, door string) (address string) {
	t.Helper()
	until(t, func() string { return "the door " + door + " is open: " + s.log() }, func() bool {
		for _, m := range doorOpen.FindAllStringSubmatch(s.log(), -1) {
			if m[1] == door {
				address = m[2]
			}
		}
		return address != ""
	})
	return address
}

// kill ends the program with SIGKILL, unless it has ended.
func (s *served) kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	<-s.drained
	_ = s.cmd.Wait() // killed: there is nothing to learn from it
	s.cmd = nil
	s.client.Close()
}

// running tells whether it was neither killed nor stopped.
func (s *served) running() bool { return s.cmd != nil }

// hasEnded tells whether the process has ended, as far as it says nothing more.
func (s *served) hasEnded() bool {
	select {
	case <-s.drained:
		return true
	default:
		return false
	}
}

// signal sends a signal.
func (s *served) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// wait returns how the program ended.
func (s *served) wait(t *testing.T) *os.ProcessState {
	t.Helper()
	over := time.AfterFunc(patience, func() {
		t.Errorf("it did not end within %v", patience)
		_ = s.cmd.Process.Kill()
	})
	defer over.Stop()
	<-s.drained
	_ = s.cmd.Wait() // the state says it all
	state := s.cmd.ProcessState
	s.cmd = nil
	s.client.Close()
	return state
}

// stop ends the program cleanly.
func (s *served) stop(t *testing.T) {
	t.Helper()
	s.signal(t, syscall.SIGTERM)
	if state := s.wait(t); state.ExitCode() != 0 {
		t.Errorf("serve ended with %v\n%s", state, s.log())
	}
}

// stats describes a queue; an empty description when there is none yet.
func (s *served) stats(t *testing.T, name string) httpdoor.Stats {
	t.Helper()
	st, err := s.client.Stats(t.Context(), queueName(name))
	if err != nil && !errors.Is(err, queue.ErrNotFound) {
		t.Fatalf("%v\n%s", err, s.log())
	}
	return st
}

func queueName(name string) queue.Name {
	return queue.Name{Namespace: queue.DefaultNamespace, Name: name}
}

// put puts bodies as one group.
func (s *served) put(t *testing.T, name string, bodies ...string) {
	t.Helper()
	msgs := make([]httpdoor.Message, len(bodies))
	for i, b := range bodies {
		msgs[i] = httpdoor.NewMessage([]byte(b))
	}
	if _, err := s.client.Put(t.Context(), queueName(name), msgs...); err != nil {
		t.Fatalf("%v\n%s", err, s.log())
	}
}

// peakMemory is the most memory that the program had so far, in bytes.
func (s *served) peakMemory(t *testing.T) int64 {
	t.Helper()
	return s.status(t, "VmHWM:") << 10
}

// status is what the system tells of the program's process.
func (s *served) status(t *testing.T, field string) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("the system does not tell %s", field)
	return 0
}
