//go:build unix

// Package callertest lets tests of root connect as other accounts: each is a process of its own, which connects and
// passes on what the test writes.
//
//	func TestMain(m *testing.M) {
//		callertest.Become()
//		os.Exit(m.Run())
//	}
//
//	nobody := callertest.As(t, 65534)
//	conn, err := nobody.Dial(ctx, "tcp", addr)
package callertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const asked = "HIKYAKU_TEST_ACCOUNT"

// Become makes this process the other account's if it was started as one, and then does not return. TestMain calls it
// first.
func Become() {
	if os.Getenv(asked) == "" {
		return
	}
	fmt.Fprintln(os.Stderr, relay())
	os.Exit(1)
}

// relay connects for the test until its standard input ends, and the process with it. It returns what went wrong.
func relay() error {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it ends with the process
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go pass(c)
	}
}

// pass connects to what a first line names, from where its third word says, and copies both ways.
func pass(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	line, err := r.ReadString('\n')
	if err != nil {
		return
	}
	words := strings.Fields(line)
	d := net.Dialer{Timeout: 10 * time.Second}
	if len(words) == 3 {
		d.LocalAddr = &net.TCPAddr{IP: net.ParseIP(words[2])}
	}
	to, err := d.Dial(words[0], words[1])
	if err != nil {
		fmt.Fprintln(c, strings.ReplaceAll(err.Error(), "\n", " "))
		return
	}
	defer to.Close()
	fmt.Fprintln(c, "ok")
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(to, r)
		_ = to.(interface{ CloseWrite() error }).CloseWrite()
	})
	both.Go(func() {
		_, _ = io.Copy(c, to)
		_ = c.(*net.TCPConn).CloseWrite()
	})
	both.Wait()
}

// Account connects as another account of this machine.
type Account struct{ relay string }

// As starts a process of the account, which ends with the test. Only root may.
func As(t testing.TB, uid uint32) *Account {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), Open(t, ""))
	cmd.Env = append(os.Environ(), asked+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	cmd.Dir, cmd.Stderr = "/", os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // it ends by that
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return &Account{strings.TrimSpace(line)}
}

// Dial connects as the account.
func (a *Account) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return a.dial(ctx, network+" "+addr)
}

// DialFrom is Dial with an address of this machine to come from.
func (a *Account) DialFrom(ctx context.Context, from, network, addr string) (net.Conn, error) {
	return a.dial(ctx, network+" "+addr+" "+from)
}

func (a *Account) dial(ctx context.Context, line string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", a.relay)
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintln(c, line); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	var answer []byte
	for b := make([]byte, 1); ; answer = append(answer, b[0]) { // no byte more: the rest is the connection's
		if _, err := io.ReadFull(c, b); err != nil {
			return nil, errors.Join(err, c.Close())
		}
		if b[0] == '\n' {
			break
		}
	}
	if string(answer) != "ok" {
		return nil, errors.Join(errors.New(string(answer)), c.Close())
	}
	return c, nil
}

// Open copies a program, "" being this test's, to where every account may run it.
func Open(t testing.TB, program string) string {
	t.Helper()
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			t.Fatal(err)
		}
	}
	dir := Folder(t)
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, filepath.Base(program))
	if err := os.WriteFile(to, text, 0o755); err != nil {
		t.Fatal(err)
	}
	return to
}

// Folder makes a folder that every account may enter.
func Folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "hikyaku-account-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
