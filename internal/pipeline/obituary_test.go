package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestDeadLettersAreLoggedAtOnceAndThenNowAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		refuse := &answer{send: each(func(string) component.Outcome {
			return component.Reject(errors.New("the far end says no"))
		})}
		// A message each three seconds, for half a minute.
		paced := change(func(ctx context.Context, m *message.Message, emit component.Emit) error {
			time.Sleep(3 * time.Second)
			emit("", m)
			return nil
		})
		p := mustNew(t, &keeper{}, Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))},
			Node{Name: "in", Source: feedOf(numbers(10)...)},
			Node{Name: "pace", Inputs: []string{"in"}, Transform: paced},
			Node{Name: "out", Inputs: []string{"pace"}, Sink: refuse, Settings: Settings{DeadLetter: "shop/graves"}},
		)
		mustRun(t, p)
		var got []string
		for line := range strings.Lines(logged.String()) {
			if !strings.Contains(line, "level=WARN") ||
				!strings.Contains(line, `queue=shop/graves reason="the far end says no"`) {
				t.Errorf("logged %s", line)
			}
			got = append(got, regexp.MustCompile(`step=\S+ count=\d+`).FindString(line))
		}
		if total := p.Stats()[2].Dead; total != 10 {
			t.Errorf("%d dead letters", total)
		}
		if got := strings.Join(got, ", "); got != "step=out count=1, step=out count=3, step=out count=3, step=out "+
			"count=3" {
			t.Errorf("logged %s", got)
		}
		if strings.Contains(logged.String(), "m0001") {
			t.Errorf("a body is in the log: %s", logged.String())
		}
	})
}

// 2,000 messages die in three seconds, and then nothing comes for an hour.
func TestDeadLettersAreLoggedWithinTenSecondsWhenNoMoreCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		refuse := &answer{send: each(func(body string) component.Outcome {
			if n, _ := strconv.Atoi(strings.TrimLeft(body, "m0")); n > 1000 && n%2 == 0 {
				return component.Reject(errors.New("another reason"))
			}
			return component.Reject(errors.New("the far end says no"))
		})}
		begin, came := time.Now(), 0
		paced := change(func(ctx context.Context, m *message.Message, emit component.Emit) error {
			if came++; came <= 2000 {
				time.Sleep(1500 * time.Microsecond)
			} else {
				time.Sleep(time.Hour)
			}
			emit("", m)
			return nil
		})
		p := mustNew(t, &keeper{}, Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))},
			Node{Name: "in", Source: feedOf(numbers(2001)...)},
			Node{Name: "pace", Inputs: []string{"in"}, Transform: paced,
				Settings: Settings{Request: Request{Concurrency: 1}}},
			Node{Name: "out", Inputs: []string{"pace"}, Sink: refuse, Settings: Settings{DeadLetter: "shop/graves"}},
		)
		mustRun(t, p)
		var got []string
		for line := range strings.Lines(logged.String()) {
			m := regexp.MustCompile(`time=(\S+) .* count=(\d+) .* reason="(\w+)`).FindStringSubmatch(line)
			if m == nil {
				continue // that the step stands still
			}
			at, err := time.Parse(time.RFC3339, m[1])
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(at.Sub(begin).Round(time.Second), " ", m[3], " ", m[2]))
		}
		want := "0s the 1, 2s another 1, 10s the 1500, 12s another 498, 1h0m3s another 1"
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("logged %s\nwant   %s", got, want)
		}
		if o := &p.graph.nodes[2].obituaries; o.timer != nil {
			t.Error("a timer runs after the end")
		}
	})
}

// What is untold at the end is told at the end, and nothing after it.
func TestTheTimerOfObituariesEndsWithThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var o obituaries
		late := 0
		tell := func(uint64, error) { late++ }
		for range 3 {
			o.died(errDown, time.Now())
			o.later(time.Now(), tell)
		}
		if n, _ := restOf(&o); n != 2 || o.timer != nil {
			t.Errorf("%d were untold at the end; a timer runs: %v", n, o.timer != nil)
		}
		o.died(errDown, time.Now())
		o.later(time.Now(), tell)
		time.Sleep(time.Hour)
		synctest.Wait()
		if late != 0 || o.timer != nil {
			t.Errorf("%d lines came after the end", late)
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
		rest, reason := restOf(&o)
		if want := []uint64{1, 10, 10}; len(told) != 3 || told[0] != want[0] || told[1] != want[1] ||
			told[2] != want[2] || rest != 9 || !errors.Is(reason, errDown) {
			t.Errorf("told %v, rest %d, %v", told, rest, reason)
		}
		if again, _ := restOf(&o); again != 0 {
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

// restOf is how many no line told of, and the reason of the last.
func restOf(o *obituaries) (count uint64, last error) {
	o.rest(func(n uint64, reason error) { count, last = count+n, reason })
	return count, last
}

// A batch of many reasons has a line each, up to a bound, and the counts are of all of them.
func TestEachKindOfReasonIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for kinds, lines := range map[int]int{9: 9, 100: 17} {
			var logged bytes.Buffer
			refuse := &answer{send: each(func(body string) component.Outcome {
				n, _ := strconv.Atoi(strings.TrimLeft(body, "m0"))
				why := strings.Repeat("x", 1+n%kinds)
				return component.Reject(fmt.Errorf("the column %s does not take %q, row %d: it isn't %d", why, body, n,
					n))
			})}
			p := mustNew(t, &keeper{}, Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))},
				Node{Name: "in", Source: feedOf(numbers(875)...)},
				Node{Name: "out", Inputs: []string{"in"}, Sink: refuse,
					Settings: Settings{DeadLetter: "shop/graves", Batch: Batch{MaxEvents: 1000}}},
			)
			mustRun(t, p)
			seen, total := map[string]bool{}, 0
			for line := range strings.Lines(logged.String()) {
				m := regexp.MustCompile(`count=(\d+) .*the column (x+) `).FindStringSubmatch(line)
				if m == nil {
					t.Fatalf("logged %s", line)
				}
				n, _ := strconv.Atoi(m[1])
				total += n
				seen[m[2]] = true
			}
			if got := strings.Count(logged.String(), "\n"); total != 875 || len(seen) < min(kinds, 16) ||
				got > 2*lines {
				t.Errorf("%d kinds: %d lines of %d dead letters, %d columns", kinds, got, total, len(seen))
			}
		}
	})
}

func TestWhatDiffersFromMessageToMessageIsNoKind(t *testing.T) {
	for reason, want := range map[string]string{
		`the column a is INT: "12\"x" is no number`: `the column a is INT: " is no number`,
		"row 12, 7 of 900":                          "row 0, 0 of 0",
		"it doesn't take 'a b' or `c`":              `it doesn't take " or "`,
		`open "`:                                    `open "`,
		"":                                          "",
		strings.Repeat("飛", 2000):                   strings.Repeat("飛", 67),
	} {
		if got := kindOf(reason); got != want {
			t.Errorf("%s: %s", reason, got)
		}
	}
}

func FuzzKindOf(f *testing.F) {
	f.Add("the column a is INT: \"12\\\"x\" is no number 7")
	f.Add("it isn't `")
	f.Fuzz(func(t *testing.T, reason string) {
		if kind := kindOf(reason); len(kind) > kindBytes+utf8.UTFMax || strings.ContainsAny(kind, "123456789`") {
			t.Errorf("%q: %q", reason, kind)
		}
	})
}
