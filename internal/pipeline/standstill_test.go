package pipeline

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/pace"
)

// saidOfSteps runs a pipeline and returns what the log says of steps that wait: the second since the start, and the
// line.
func saidOfSteps(t *testing.T, nodes ...Node) (seconds []int, lines []string) {
	t.Helper()
	var logged bytes.Buffer
	began := time.Now()
	stamp := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			seconds = append(seconds, int(time.Since(began).Seconds()))
			return slog.Attr{}
		}
		return a
	}
	p := mustNew(t, &keeper{},
		Options{Logger: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{ReplaceAttr: stamp}))}, nodes...)
	mustRun(t, p)
	for line := range strings.Lines(logged.String()) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return seconds, lines
}

func sinkOf(s component.Sink, r Request) []Node {
	return []Node{
		{Name: "in", Source: feedOf(numbers(3)...)},
		{Name: "out", Inputs: []string{"in"}, Sink: s, Settings: Settings{Request: r}},
	}
}

func TestAStepWhoseFarEndFailsSaysSoWithinTenSecondsAndAgainAtIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := time.Now().Add(200 * time.Second)
		down := &answer{send: each(func(string) component.Outcome {
			if time.Now().Before(up) {
				return component.Again(0, errDown)
			}
			return component.Outcome{}
		})}
		seconds, lines := saidOfSteps(t, sinkOf(down, Request{RetryAttempts: Unbounded, RetryMax: 2 * time.Second})...)
		if len(lines) < 5 || len(lines) > 7 || seconds[0] > 10 || seconds[1]-seconds[0] > 10 ||
			seconds[2]-seconds[1] > 20 {
			t.Fatalf("it is said after %v seconds: %q", seconds, lines)
		}
		if want := regexp.MustCompile(
			`^level=WARN msg="a step waits, and tries again" step=out messages=3 for=[5-9]s reason="the far end is down"$`); !want.MatchString(lines[0]) {
			t.Error(lines[0])
		}
		if last := lines[len(lines)-1]; !strings.HasPrefix(last, `level=INFO msg="a step goes on" step=out after=3m2`) {
			t.Error(last)
		}
	})
}

func TestAStepWhoseFarEndDoesNotAnswerSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := &answer{send: func(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
			time.Sleep(20 * time.Second)
			return make([]component.Outcome, len(batch)), nil
		}}
		seconds, lines := saidOfSteps(t, sinkOf(hangs, Request{})...)
		if len(lines) != 3 || seconds[0] > 10 || !strings.Contains(lines[0], "no answer yet") ||
			!strings.Contains(lines[2], "a step goes on") {
			t.Errorf("it is said after %v seconds: %q", seconds, lines)
		}
	})
}

// waiter is a sink that knows why it waits.
type waiter struct {
	*answer
	why atomic.Pointer[error]
}

func (w *waiter) Waits() error {
	if why := w.why.Load(); why != nil {
		return *why
	}
	return nil
}

func TestAReasonOfTheComponentIsToldAtOnceAlsoWithoutMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &waiter{answer: &answer{}}
		why := errors.New("the token is refused")
		w.why.Store(&why)
		in := feedOf("m")
		in.began = func() {
			time.Sleep(30 * time.Second)
			w.why.Store(nil)
			time.Sleep(10 * time.Second)
		}
		seconds, lines := saidOfSteps(t, Node{Name: "in", Source: in},
			Node{Name: "out", Inputs: []string{"in"}, Sink: w})
		if len(lines) != 3 || seconds[0] > 2 ||
			!strings.Contains(lines[0], `messages=0 for=0s reason="the token is refused"`) ||
			!strings.Contains(lines[2], "a step goes on") {
			t.Errorf("it is said after %v seconds: %q", seconds, lines)
		}
	})
}

func TestATransformThatCannotAskSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := time.Now().Add(30 * time.Second)
		asks := change(func(_ context.Context, m *message.Message, emit component.Emit) error {
			if time.Now().Before(up) {
				return component.HoldError(time.Second, errDown)
			}
			emit("", m)
			return nil
		})
		k := &keeper{}
		_, lines := saidOfSteps(t,
			Node{Name: "in", Source: feedOf(numbers(3)...)},
			Node{Name: "ask", Inputs: []string{"in"}, Transform: asks,
				Settings: Settings{Request: Request{RetryAttempts: NoRetries}}},
			Node{Name: "out", Inputs: []string{"ask"}, Sink: &answer{}})
		if len(lines) < 2 || !strings.Contains(lines[0], `step=ask messages=3`) ||
			!strings.Contains(lines[0], "the far end is down") {
			t.Errorf("it is said: %q", lines)
		}
		if len(k.bodies("ask_dead")) != 0 {
			t.Error("a message that was never tried is a dead letter")
		}
	})
}

func TestAStepThatIsOnlySlowByItsNatureSaysNothing(t *testing.T) {
	slow := func(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
		time.Sleep(20 * time.Second)
		return make([]component.Outcome, len(batch)), nil
	}
	rate, err := pace.Every(1, 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for name, nodes := range map[string][]Node{
		"work of its own": sinkOf(&answer{send: slow, limits: component.SinkLimits{DefaultTimeout: time.Hour}},
			Request{}),
		"a pace":  sinkOf(&answer{limits: component.SinkLimits{MaxEvents: 1}}, Request{Pace: rate}),
		"company": {{Name: "in", Source: &feed{}}, {Name: "out", Inputs: []string{"in"}, Sink: &answer{}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if _, lines := saidOfSteps(t, nodes...); len(lines) > 0 {
					t.Errorf("it is said: %q", lines)
				}
			})
		})
	}
}
