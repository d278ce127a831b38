//go:build unix

package exec

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type collector struct {
	answer func() component.Outcome
	mu     sync.Mutex
	got    []*message.Message
}

func (c *collector) Send(ctx context.Context, d component.Delivery) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.mu.Lock()
	c.got = append(c.got, d.Message)
	c.mu.Unlock()
	var o component.Outcome
	if c.answer != nil {
		o = c.answer()
	}
	d.Settle(o)
	return nil
}

// lines are the bodies that came, with the streams that they came from.
func (c *collector) lines() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.got {
		stream, _ := m.Attributes.Get("stream")
		all = append(all, stream.AsString()+":"+string(m.Body))
	}
	return all
}

func run(t *testing.T, c Config, out component.Out) (s *Source, stop func()) {
	t.Helper()
	made, err := New(c, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	s = made.(*Source)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, out) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != context.Canceled {
			t.Errorf("it ended with %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return s, stop
}

func (c *collector) await(t *testing.T, n int) []string {
	t.Helper()
	waittest.Until(t, strconv.Itoa(n)+" lines have come", func() bool { return len(c.lines()) >= n })
	return c.lines()[:n]
}

func TestLinesOfACommandBecomeMessagesEachTimeThatItRuns(t *testing.T) {
	out := &collector{}
	s, _ := run(t, Config{Command: []string{"printf", "%s\n", "a $HOME", strings.Repeat("x", 20), "b"},
		Interval: 10 * time.Millisecond, MaxLineBytes: 10}, out)
	want := []string{"stdout:a $HOME", "stdout:b", "stdout:a $HOME", "stdout:b"}
	if got := out.await(t, 4); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if n := s.Counts()[skipped]; n == 0 {
		t.Error("a line that was too long is not counted")
	}
}

func TestACommandThatFailsIsToldAndStartedAgain(t *testing.T) {
	out := &collector{}
	s, _ := run(t, Config{Command: []string{"echo one; exit 7"}, Shell: true, RestartDelay: time.Millisecond}, out)
	out.await(t, 3)
	if ns := s.Notices(); len(ns) == 0 || !strings.Contains(ns[0], "exit status 7") || s.Counts()[failed] < 2 {
		t.Errorf("%q, %v", ns, s.Counts())
	}
}

func TestStandardErrorIsTakenWhereItIsWanted(t *testing.T) {
	out := &collector{}
	run(t, Config{Command: []string{"echo bad >&2; sleep 0.01; printf end"}, Shell: true, Stderr: true,
		Interval: time.Hour}, out)
	got := out.await(t, 2)
	slices.Sort(got)
	if !slices.Equal(got, []string{"stderr:bad", "stdout:end"}) {
		t.Errorf("%q", got)
	}
}

// TestAStopEndsAllThatACommandHasStarted: one that writes a last line when it is asked to end, with a child that does
// not heed that and holds the pipe open.
func TestAStopEndsAllThatACommandHasStarted(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	out := &collector{}
	_, stop := run(t, Config{Command: []string{`(trap '' TERM; exec sleep 1000) & echo $! > ` + pid +
		`; trap 'echo last; exit' TERM; echo begun; wait`}, Shell: true}, out)
	out.await(t, 1)
	began := time.Now()
	stop()
	if got := out.lines(); !slices.Equal(got, []string{"stdout:begun", "stdout:last"}) {
		t.Errorf("%q", got)
	}
	if took := time.Since(began); took > 2*partTime {
		t.Errorf("the stop took %v", took)
	}
	text, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the child has ended", func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(child) + "/stat")
		return syscall.Kill(child, 0) != nil || err == nil && strings.Contains(string(stat), ") Z ")
	})
}

func TestWhatThePipelineGivesBackIsSentAgain(t *testing.T) {
	var once sync.Once
	out := &collector{answer: func() (o component.Outcome) {
		once.Do(func() { o = component.Again(0, os.ErrDeadlineExceeded) })
		return o
	}}
	run(t, Config{Command: []string{"echo", "one"}, Interval: time.Hour}, out)
	out.await(t, 2)
	if out.got[0].ID != out.got[1].ID {
		t.Error("another message was sent")
	}
}

func TestWhatCannotRunIsRefused(t *testing.T) {
	for _, c := range []Config{{}, {Command: []string{"a", "b"}, Shell: true}} {
		if _, err := New(c, component.Env{}); err == nil || err.(*component.SettingError).Setting != "command" {
			t.Errorf("%v: %v", c, err)
		}
	}
	s, err := New(Config{Command: []string{"/there/is/none"}}, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.(*Source).Start(t.Context()); err == nil {
		t.Error("a program that is not there was started")
	}
}
