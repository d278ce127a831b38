package process_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/function/process"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T) *process.Starter {
	t.Helper()
	s := process.NewStarter(process.Config{})
	t.Cleanup(s.Close)
	return s
}

// shell starts a script and returns it and what it prints.
func shell(t *testing.T, s *process.Starter, script string) (*process.Child, *bufio.Reader) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	c, err := s.Start(process.Program{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Dir: "/",
		Env: []string{"A=b", "PATH=" + os.Getenv("PATH")}, Out: w})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return c, bufio.NewReader(r)
}

func line(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	text, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(text)
}

func gone(t *testing.T, pid string) {
	t.Helper()
	waittest.Until(t, "program "+pid+" ends", func() bool {
		text, err := os.ReadFile("/proc/" + pid + "/stat")
		return err != nil || strings.Contains(string(text), ") Z") || strings.Contains(string(text), ") X")
	})
}

func TestAProgramRunsAndItsEndIsTold(t *testing.T) {
	s := open(t)
	c, out := shell(t, s, `echo "$A"; echo error >&2; exit 3`)
	if a, b := line(t, out), line(t, out); a != "b" || b != "error" {
		t.Errorf("it prints %q and %q", a, b)
	}
	<-c.Done()
	if c.How() != "exit status 3" || c.ExitCode() != 3 {
		t.Errorf("%s, %d", c.How(), c.ExitCode())
	}
	c.Kill() // it may be asked for once more
	c.Terminate()
}

func TestKillingTakesTheWholeGroup(t *testing.T) {
	s := open(t)
	c, out := shell(t, s, `sleep 1000 & echo $!; wait`)
	forked := line(t, out)
	c.Kill()
	<-c.Done()
	if c.How() != "signal: killed" || c.ExitCode() != -1 {
		t.Errorf("%s, %d", c.How(), c.ExitCode())
	}
	gone(t, forked)
}

func TestWhatAProgramLeavesBehindEndsWithIt(t *testing.T) {
	s := open(t)
	c, out := shell(t, s, `sleep 1000 & echo $!`)
	forked := line(t, out)
	<-c.Done()
	gone(t, forked)
}

func TestAProgramIsStoppedContinuedAndAskedToEnd(t *testing.T) {
	s := open(t)
	c, out := shell(t, s, `trap 'echo bye; exit 0' TERM; echo ready; while :; do :; done`)
	line(t, out)
	c.Stop()
	waittest.Until(t, "it is stopped", func() bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Pid))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), ") T ")
	})
	c.Terminate()
	c.Continue()
	if got := line(t, out); got != "bye" {
		t.Errorf("%q", got)
	}
	<-c.Done()
	if c.ExitCode() != 0 {
		t.Errorf("%s", c.How())
	}
}

func TestMemoryIsMeasured(t *testing.T) {
	s := open(t)
	c, out := shell(t, s, `sleep 1000 & echo ready; wait`)
	line(t, out)
	if n := c.Memory(); n < 100_000 || n > 100_000_000 {
		t.Errorf("%d bytes", n)
	}
	c.Kill()
	<-c.Done()
	if n := c.Memory(); n != 0 {
		t.Errorf("afterwards %d bytes", n)
	}
}

func TestClosingKillsWhatRunsAndStartsNothingMore(t *testing.T) {
	s := process.NewStarter(process.Config{})
	if !s.Guarded() {
		t.Error("there is a shell, and no guard")
	}
	c, out := shell(t, s, `sleep 1000 & echo $!; wait`)
	forked := line(t, out)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(s.Close)
	}
	wg.Wait()
	<-c.Done()
	gone(t, forked)
	if _, err := s.Start(process.Program{Path: "/bin/true", Args: []string{"true"}, Out: os.Stderr}); !errors.Is(err,
		process.ErrClosed) {
		t.Errorf("%v", err)
	}
}

func TestAProgramThatIsNotThereIsAnError(t *testing.T) {
	s := open(t)
	if _, err := s.Start(process.Program{Path: "/no/such", Args: []string{"such"}, Out: os.Stderr}); !errors.Is(err,
		os.ErrNotExist) || !strings.Contains(err.Error(), "/no/such") {
		t.Errorf("%v", err)
	}
}

func TestManyAreStartedAtOnce(t *testing.T) {
	s := open(t)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			c, err := s.Start(process.Program{Path: "/bin/sh", Args: []string{"sh", "-c", "exit 4"}, Out: os.Stderr})
			if err != nil {
				t.Error(err)
				return
			}
			if <-c.Done(); c.ExitCode() != 4 {
				t.Errorf("%s", c.How())
			}
		})
	}
	wg.Wait()
}
