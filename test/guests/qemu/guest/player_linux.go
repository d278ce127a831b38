package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/trace"
)

const program = "/hikyaku-pad"

// examples are the macros of the field report.
var examples = []string{"combo.txt", "low-kick-fireball.txt", "jab.txt"}

func exampleFile(name string) string { return filepath.Join("/macros", name) }

// playing is hikyaku-pad at work.
type playing struct {
	t    *test
	cmd  *exec.Cmd
	said safeBuffer
	done chan struct{}
}

// safeBuffer can be looked at while it is written to.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// begin starts hikyaku-pad macro …; text is what it reads from its standard input.
func (t *test) begin(text string, args ...string) *playing { return t.beginAs(0, text, args...) }

// beginAs starts it as another user than root.
func (t *test) beginAs(user uint32, text string, args ...string) *playing {
	p := &playing{t: t, cmd: exec.Command(program, append([]string{"macro"}, args...)...), done: make(chan struct{})}
	p.cmd.Stdin, p.cmd.Stderr, p.cmd.Stdout = strings.NewReader(text), &p.said, &p.said
	if user != 0 {
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	}
	t.check(p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // its state tells
		close(p.done)
	}()
	t.cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
	})
	return p
}

// end waits for the end, and returns the exit status, or -1 for one that a signal ended.
func (p *playing) end() (status int, said string) {
	p.t.eventually("hikyaku-pad has ended; it said: "+p.said.String(), func() bool {
		select {
		case <-p.done:
			return true
		default:
			return false
		}
	})
	return p.cmd.ProcessState.ExitCode(), p.said.String()
}

// mustEnd wants a status, and words among what was said.
func (p *playing) mustEnd(want int, words ...string) string {
	status, said := p.end()
	if status != want {
		p.t.errorf("the exit status is %d, not %d; it said: %s", status, want, said)
	}
	for _, w := range words {
		if !strings.Contains(said, w) {
			p.t.errorf("there is no %q in what it said: %s", w, said)
		}
	}
	return said
}

func (p *playing) signal(s syscall.Signal) { p.t.check(p.cmd.Process.Signal(s)) }

// pacing is the process that keeps the time: a child of hikyaku-pad.
func (p *playing) pacing() (pid int) {
	p.t.eventually("there is a pacing process", func() bool {
		all := childrenOf(p.cmd.Process.Pid)
		if len(all) > 0 {
			pid = all[0]
		}
		return pid != 0
	})
	return pid
}

// childrenOf lists the processes that a process has started and that have not ended.
func childrenOf(parent int) (all []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, d := range dirs {
		if f := statOf(d); len(f) > 1 && f[0] != "Z" && f[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(d)))
			all = append(all, pid)
		}
	}
	return all
}

// statOf is the state, the parent and so on of a process; nothing if it has ended.
func statOf(file string) []string {
	b, _ := os.ReadFile(file)
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.Fields(rest)
}

// alive tells whether a process has not ended.
func alive(pid int) bool {
	f := statOf(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return len(f) > 0 && f[0] != "Z"
}

// traced plays a macro on the trace driver, and returns what was written.
func (t *test) traced(file string, args ...string) []trace.Event {
	dir, err := os.MkdirTemp("/tmp", "trace")
	t.check(err)
	to := filepath.Join(dir, "trace")
	t.begin("", append([]string{"play", file, "--device", "trace:" + to}, args...)...).mustEnd(0,
		"frames at 60000/1001/s")
	f, err := os.Open(to)
	t.check(err)
	defer f.Close()
	events, err := trace.Read(f)
	t.check(err)
	if len(events) == 0 || events[len(events)-1].State != (macro.State{}) {
		t.fatalf("the trace does not end with everything let go: %v", events)
	}
	return events
}
