//go:build linux

package databasetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/hikyaku/hikyaku/internal/freeport"
)

// patience is how long a server may take to start or to end.
const patience = time.Minute

// Server is a server that can be stopped and started again. Its methods are called by one goroutine at a time.
type Server struct {
	name   string // "PostgreSQL"
	dir    string
	port   int
	owner  *syscall.Credential
	args   []string // the command and its arguments
	ending syscall.Signal
	greets func(net.Conn) error // whether who speaks first is ready

	running *exec.Cmd
	frozen  bool
	said    *tail
}

// Port is where it listens, on 127.0.0.1, also after it was started anew.
func (s *Server) Port() int { return s.port }

// Address is the host and the port.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// Dir is its folder: what it writes is below.
func (s *Server) Dir() string { return s.dir }

// PID is its process, which is the first of a group of processes; 0: it is down.
func (s *Server) PID() int {
	if s.running == nil {
		return 0
	}
	return s.running.Process.Pid
}

// Said is the end of what it has written to its log.
func (s *Server) Said() string { return s.said.String() }

// Start starts a server that is down, and waits until it answers.
func (s *Server) Start(ctx context.Context) error {
	if s.running != nil {
		return fmt.Errorf("%s runs already", s.name)
	}
	cmd := exec.Command(s.args[0], s.args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, s.said, s.said
	// A group of its own, so that all of it can be frozen. It ends with us, whatever happens.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner, Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w; scripts/need-clients installs it", s.name, err)
	}
	s.running = cmd
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := s.hello(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s does not answer: %w\n%s", s.name, err, s.said), s.Kill())
		case <-time.After(5 * time.Millisecond): // nobody tells when it does
		}
	}
}

func (s *Server) hello(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", s.Address())
	if err != nil {
		return err
	}
	defer c.Close()
	deadline, _ := ctx.Deadline()
	if err := c.SetDeadline(deadline); err != nil {
		return err
	}
	return s.greets(c)
}

// Stop ends it in good order: sessions are ended, and it comes back without repairs.
func (s *Server) Stop() error { return s.end(s.ending) }

// Kill ends it as a crash of the machine's power would, but for what the kernel has already been given.
func (s *Server) Kill() error { return s.end(syscall.SIGKILL) }

func (s *Server) end(how syscall.Signal) error {
	if s.running == nil {
		return nil
	}
	if err := s.Thaw(); err != nil {
		return err
	}
	pid := s.running.Process.Pid
	pids := []int{pid}
	if how == syscall.SIGKILL {
		pids = append(pids, children(pid)...) // PostgreSQL's sessions would live on for a moment
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, how); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("end %s: %w", s.name, err)
		}
	}
	timer := time.AfterFunc(patience, func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	defer timer.Stop()
	err := s.running.Wait()
	s.running = nil
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return fmt.Errorf("end %s: %w", s.name, err)
	}
	return nil
}

// Freeze stops all of its processes where they are. It takes connections, since the kernel does, and what is sent, and
// answers nothing.
func (s *Server) Freeze() error { return s.freeze(true, syscall.SIGSTOP) }

// Thaw lets a frozen server go on.
func (s *Server) Thaw() error { return s.freeze(false, syscall.SIGCONT) }

func (s *Server) freeze(frozen bool, how syscall.Signal) error {
	if s.running == nil || s.frozen == frozen {
		return nil
	}
	signal := func(pid int) error {
		// One of PostgreSQL's sessions may have ended meanwhile.
		if err := syscall.Kill(pid, how); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("%v to %s: %w", how, s.name, err)
		}
		if !frozen {
			return nil
		}
		return s.awaitStop(pid)
	}
	if err := signal(s.running.Process.Pid); err != nil { // it makes no more children
		return err
	}
	for _, pid := range children(s.running.Process.Pid) {
		if err := signal(pid); err != nil {
			return err
		}
	}
	s.frozen = frozen
	return nil
}

// stopTime is how long a process may take to stop.
const stopTime = time.Minute

// awaitStop waits until all threads of a process have stopped: on a busy machine they go on for a while after the
// signal.
func (s *Server) awaitStop(pid int) error {
	for end := time.Now().Add(stopTime); ; time.Sleep(time.Millisecond) {
		going := going(pid)
		if going == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d threads of %s, process %d, have not stopped within %v", going, s.name, pid, stopTime)
		}
	}
}

// going counts the threads of a process that have not been stopped.
func going(pid int) (n int) {
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return 0
	}
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil {
			continue // the thread is gone
		}
		// The state stands behind the name, which is in parentheses and may have some in it.
		if at := bytes.LastIndexByte(text, ')'); at >= 0 && at+2 < len(text) &&
			!bytes.ContainsRune([]byte("TtZX"), rune(text[at+2])) {
			n++
		}
	}
	return n
}

// children are the processes that a process has started. PostgreSQL makes a group of each, so that no signal reaches
// all of them.
func children(pid int) (pids []int) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread is gone
		}
		for _, field := range bytes.Fields(text) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// Close ends it and removes its folder.
func (s *Server) Close() error { return errors.Join(s.Kill(), os.RemoveAll(s.dir)) }

// prepare makes its folder and runs a program that fills it.
func (s *Server) prepare(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: s.owner, Pdeathsig: syscall.SIGKILL}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%q: %w; scripts/need-clients installs what is missing\n%s", args, err, out)
	}
	return nil
}

// place makes the folder and finds a port. owner is a user to run the server as when we are root; "": ourselves.
func (s *Server) place(owner string) (err error) {
	if owner != "" && os.Geteuid() == 0 {
		if s.owner, err = somebody(owner); err != nil {
			return fmt.Errorf("%s does not run as root: %w; scripts/need-clients installs it", s.name, err)
		}
	}
	found, err := freeport.Find(1)
	if err != nil {
		return err
	}
	at, err := netip.ParseAddrPort(found[0])
	if err != nil {
		return err
	}
	s.port = int(at.Port())
	if s.dir, err = os.MkdirTemp("", "hikyaku-database-"); err != nil {
		return err
	}
	if s.owner != nil {
		return os.Chown(s.dir, int(s.owner.Uid), int(s.owner.Gid))
	}
	return nil
}

func somebody(name string) (*syscall.Credential, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

const tailBytes = 8 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - tailBytes; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
