package pipeline

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestDeadLettersAreLoggedAtOnceAndThenNowAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		refuse := &answer{send: each(func(string) component.Outcome {
			return component.Reject(errors.New("the far end says no"))
		})}
		// A message a second for 25 seconds.
		paced := change(func(ctx context.Context, m *message.Message, emit component.Emit) error {
			time.Sleep(time.Second)
			emit("", m)
			return nil
		})
		p := mustNew(t, &keeper{}, Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))},
			Node{Name: "in", Source: feedOf(numbers(25)...)},
			Node{Name: "pace", Inputs: []string{"in"}, Transform: paced},
			Node{Name: "out", Inputs: []string{"pace"}, Sink: refuse, Settings: Settings{DeadLetter: "shop/graves"}},
		)
		mustRun(t, p)
		var got []string
		for line := range strings.Lines(logged.String()) {
			if !strings.Contains(line, "level=WARN") || !strings.Contains(line, `queue=shop/graves reason="the far end says no"`) {
				t.Errorf("logged %s", line)
			}
			got = append(got, regexp.MustCompile(`step=\S+ count=\d+`).FindString(line))
		}
		if total := p.Stats()[2].Dead; total != 25 {
			t.Errorf("%d dead letters", total)
		}
		if got := strings.Join(got, ", "); got != "step=out count=1, step=out count=10, step=out count=10, step=out count=4" {
			t.Errorf("logged %s", got)
		}
		if strings.Contains(logged.String(), "m0001") {
			t.Errorf("a body is in the log: %s", logged.String())
		}
	})
}

func TestObituariesCountEveryDeathOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o obituaries
		var told []uint64
		for range 30 {
			if n := o.died(errDown, time.Now()); n > 0 {
				told = append(told, n)
			}
			time.Sleep(time.Second)
		}
		rest, reason := o.rest()
		if want := []uint64{1, 10, 10}; len(told) != 3 || told[0] != want[0] || told[1] != want[1] || told[2] != want[2] || rest != 9 || !errors.Is(reason, errDown) {
			t.Errorf("told %v, rest %d, %v", told, rest, reason)
		}
		if again, _ := o.rest(); again != 0 {
			t.Errorf("%d were told of twice", again)
		}
	})
}

func TestALongReasonIsCutInTheLog(t *testing.T) {
	var logged bytes.Buffer
	p := &Pipeline{options: Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))}.withDefaults()}
	p.announce(&node{Node: Node{Name: "out"}}, errors.New(strings.Repeat("飛", 2000)))
	if n := logged.Len(); n > obituaryReason+300 || !strings.Contains(logged.String(), "…") {
		t.Errorf("%d bytes: %s", n, logged.String())
	}
}
