package pace_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/pace"
)

// asker is set in the environment of a program that asks for a run and is then killed.
const asker = "PACE_TEST_ASKER"

// players are those of the tests, in this process and in pacing ones.
func players() pace.Players {
	all := pace.Players{
		"caller": newCaller,
		"none":   func([]byte) (pace.Player, error) { return nil, errors.New("the device is not there") },
		"panics": func([]byte) (pace.Player, error) { panic("made badly") },
	}
	maps.Copy(all, playersHere())
	return all
}

func TestMain(m *testing.M) {
	host := pace.Child(players())
	if setup := os.Getenv(asker); setup != "" {
		run, err := host.Start(context.Background(),
			pace.Job{Player: "caller", Setup: []byte(setup), Rate: pace.NTSC()})
		if err == nil {
			_, err = run.Wait()
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// caller is a player that tells a test, over a connection, what it is called with, a line each.
type caller struct {
	callerSetup
	conn net.Conn
	told int64
}

type callerSetup struct {
	Addr   string
	FailAt int64  // the frame that fails; 0: none
	Panic  bool   // it panics instead
	Kill   bool   // its process dies instead
	Hang   bool   // it never returns instead
	Quiet  bool   // frames are not told
	Prints string // as soon as it is made
	Says   string // in its result
}

func newCaller(setup []byte) (pace.Player, error) {
	c := new(caller)
	if err := json.Unmarshal(setup, &c.callerSetup); err != nil {
		return nil, err
	}
	conn, err := net.Dial("tcp", c.Addr)
	if err != nil {
		return nil, err
	}
	c.conn = conn
	if c.Prints != "" {
		fmt.Println(c.Prints, "on one")
		fmt.Fprintln(os.Stderr, c.Prints, "on the other")
	}
	return c, c.tell(fmt.Sprintf("made, pid %d", os.Getpid()))
}

func (c *caller) tell(text string) error {
	_, err := fmt.Fprintln(c.conn, text)
	return err
}

func (c *caller) Frame(n int64) error {
	if c.FailAt > 0 && n == c.FailAt {
		switch {
		case c.Panic:
			panic("out of tune")
		case c.Kill:
			self, err := os.FindProcess(os.Getpid())
			if err != nil {
				return err
			}
			_ = self.Kill()
			select {}
		case c.Hang:
			_ = c.tell("hangs")
			select {}
		}
		return errors.New("unplugged")
	}
	c.told++
	if c.Quiet && n > 0 {
		return nil
	}
	return c.tell(fmt.Sprintf("frame %d", n))
}

func (c *caller) Pause() error  { return c.tell("pause") }
func (c *caller) Resume() error { return c.tell("resume") }

func (c *caller) Stop() error {
	if err := c.tell("stop"); err != nil {
		return err
	}
	return c.conn.Close()
}

func (c *caller) Result() ([]byte, error) {
	return fmt.Appendf(nil, "%s after %d", c.Says, c.told), nil
}

// ear hears callers.
type ear struct {
	t        *testing.T
	listener net.Listener
}

func newEar(t *testing.T) *ear {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return &ear{t, l}
}

func (e *ear) setup(s callerSetup) []byte {
	s.Addr = e.listener.Addr().String()
	b, err := json.Marshal(s)
	if err != nil {
		e.t.Fatal(err)
	}
	return b
}

// told is what one player tells.
type told struct {
	t     *testing.T
	lines *bufio.Scanner
	pid   int
}

// next waits for the next player to be made.
func (e *ear) next() *told {
	e.t.Helper()
	conn, err := e.listener.Accept()
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { _ = conn.Close() })
	h := &told{e.t, bufio.NewScanner(conn), 0}
	made := h.line()
	if _, err := fmt.Sscanf(made, "made, pid %d", &h.pid); err != nil {
		e.t.Fatalf("%q: %v", made, err)
	}
	return h
}

// line waits for the next line; "" is the end.
func (h *told) line() string {
	h.t.Helper()
	if !h.lines.Scan() {
		return ""
	}
	return h.lines.Text()
}

// until waits for a line and returns those before it.
func (h *told) until(want string) (before []string) {
	h.t.Helper()
	for {
		line := h.line()
		switch line {
		case want:
			return before
		case "":
			h.t.Fatalf("the end came before %q, after %s", want, strings.Join(before, ", "))
		}
		before = append(before, line)
	}
}

// kilohertz is a rate that makes tests short.
func kilohertz(t *testing.T) pace.Rate {
	t.Helper()
	r, err := pace.Every(1, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
