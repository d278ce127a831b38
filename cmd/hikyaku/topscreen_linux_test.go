package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// pty is a pseudo-terminal, and all that was written on it.
type pty struct {
	far, near *os.File

	mu      sync.Mutex
	changed *sync.Cond
	text    string // that no await has seen
	all     string
	over    bool
}

func newPty(t *testing.T, width, height uint16) *pty {
	t.Helper()
	// Not blocking, so that its closing ends the reading.
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &pty{far: os.NewFile(uintptr(fd), "a terminal")}
	s.changed = sync.NewCond(&s.mu)
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	s.resize(t, width, height)
	if s.near, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.read()
	}()
	t.Cleanup(func() {
		s.near.Close()
		s.far.Close()
		<-done
	})
	return s
}

func (s *pty) read() {
	part := make([]byte, 4096)
	for {
		n, err := s.far.Read(part)
		s.mu.Lock()
		s.text += string(part[:n])
		s.all += string(part[:n])
		s.over = err != nil
		s.changed.Broadcast()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *pty) resize(t *testing.T, width, height uint16) {
	t.Helper()
	conn, err := s.far.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Control(func(fd uintptr) {
		err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: height, Col: width})
	}); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// await waits until a text was written behind what was seen before.
func (s *pty) await(t *testing.T, want string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !strings.Contains(s.text, want) {
		if s.over {
			t.Fatalf("it never wrote %q, only %q", want, s.text)
		}
		s.changed.Wait()
	}
	_, s.text, _ = strings.Cut(s.text, want)
}

func (s *pty) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := s.far.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// settings are how the terminal takes keys.
func (s *pty) settings(t *testing.T) unix.Termios {
	t.Helper()
	got, err := unix.IoctlGetTermios(int(s.near.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *got
}

// start runs the program on the terminal.
func (s *pty) start(t *testing.T, ctx context.Context, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(ctx, env, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.near, s.near, s.near
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestTopOnATerminalTakesKeysAndLeavesItAsItWas(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet)
	if r := s.do(t, "one\n", "publish", "news"); r.code != 0 {
		t.Fatalf("publish: %+v", r)
	}
	for _, end := range []func(*testing.T, *pty, *exec.Cmd){
		func(t *testing.T, on *pty, _ *exec.Cmd) { on.press(t, "q") },
		func(t *testing.T, on *pty, _ *exec.Cmd) { on.press(t, "\x03") },
		func(t *testing.T, _ *pty, cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGINT) },
		func(t *testing.T, _ *pty, cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGTERM) },
	} {
		on := newPty(t, 80, 24)
		before := on.settings(t)
		cmd := on.start(t, t.Context(), []string{"HIKYAKU_URL=" + s.url, "NO_COLOR=1", "TERM=xterm"}, "top")
		on.await(t, enterScreen)
		on.await(t, "\x1b[H")
		on.await(t, "[queues]")
		on.await(t, "news ")
		on.await(t, "q quit")
		on.press(t, "\t\t")
		on.await(t, "[doors]")
		on.await(t, "http ")
		on.press(t, "\t/zzz\r")
		on.await(t, "only with zzz")
		on.await(t, "0 queues")
		on.press(t, "\x1b")
		on.await(t, "1 queue,")
		on.resize(t, 60, 10)
		on.await(t, "\x1b[H")
		end(t, on, cmd)
		on.await(t, leaveScreen)
		if err := cmd.Wait(); err != nil {
			t.Errorf("it ended with %v", err)
		}
		if after := on.settings(t); after != before {
			t.Errorf("the terminal was %+v and is %+v", before, after)
		}
		on.mu.Lock()
		if strings.Contains(on.all, "\x1b[1m") {
			t.Error("there are colours with NO_COLOR")
		}
		on.mu.Unlock()
	}
}
