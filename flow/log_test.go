package flow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/flow"
)

func TestLogTellsWhatHappensWhereAndWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		to := flow.LogTo(&out)
		elastic := flow.Elastic(0)
		students := flow.Log(flow.On(elastic, numbers(2, 100*time.Millisecond)), "fetchStudents", to)
		collect(t, flow.Map(students, func(ctx context.Context, i int) (int, error) {
			list, err := flow.Collect(ctx, flow.Log(flow.On(elastic, numbers(1, 30*time.Millisecond)), "fetchScores",
				to))
			return len(list), err
		}, flow.Options{Concurrency: 256}))
		want := `00:00:00.000 [goroutine] INFO  fetchStudents - onSubscribe()
00:00:00.000 [goroutine] INFO  fetchStudents - request(256)
00:00:00.100 [elastic-1] INFO  fetchStudents - onNext(0)
00:00:00.100 [goroutine] INFO  fetchScores - onSubscribe()
00:00:00.100 [goroutine] INFO  fetchScores - request(unbounded)
00:00:00.130 [elastic-1] INFO  fetchScores - onNext(0)
00:00:00.130 [goroutine] INFO  fetchScores - onComplete()
00:00:00.200 [elastic-1] INFO  fetchStudents - onNext(1)
00:00:00.200 [goroutine] INFO  fetchScores - onSubscribe()
00:00:00.200 [goroutine] INFO  fetchScores - request(unbounded)
00:00:00.200 [goroutine] INFO  fetchStudents - onComplete()
00:00:00.230 [elastic-1] INFO  fetchScores - onNext(0)
00:00:00.230 [goroutine] INFO  fetchScores - onComplete()
`
		if got := sortedLines(out.String()); got != sortedLines(want) {
			t.Errorf("the log is\n%s\nwant\n%s", out.String(), want)
		}
	})
}

// What happens at the same moment may be told in any order.
func sortedLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines { // few
		for k := range i {
			if lines[i] < lines[k] {
				lines[i], lines[k] = lines[k], lines[i]
			}
		}
	}
	return strings.Join(lines, "\n")
}

func TestLogTellsTheEnd(t *testing.T) {
	for _, c := range []struct {
		s    flow.Stream[int]
		last string
	}{
		{failing(1), "onError(broken)"},
		{flow.Source(func(context.Context, func(int) bool) error { panic("no") }), "onError(flow: panic: no)"},
		{flow.Of(1), "onComplete()"},
		{flow.Interval(1), "cancel()"},
	} {
		var told []flow.Event
		s := flow.Log(c.s, "it", func(e flow.Event) { told = append(told, e) })
		for range s(t.Context()) {
			if strings.HasPrefix(c.last, "cancel") {
				break
			}
		}
		if last := told[len(told)-1].String(); !strings.Contains(last, "[main] INFO  it - "+c.last) {
			t.Errorf("the last line is %q, want %s", last, c.last)
		}
	}
}

func TestErrorsSayWhatHappened(t *testing.T) {
	inner := errors.New("connection lost")
	for _, c := range []struct {
		err  error
		text string
		is   error
	}{
		{&flow.PanicError{Value: inner}, "flow: panic: connection lost", inner},
		{&flow.PanicError{Value: 7}, "flow: panic: 7", nil},
		{&flow.TimeoutError{After: "2s", Err: inner}, "flow: not done within 2s: connection lost",
			context.DeadlineExceeded},
		{flow.KeyErrors[int]{7: inner}, "flow: key 7: connection lost", inner},
		{flow.KeyErrors[int]{}, "flow: no key failed", nil},
	} {
		if c.err.Error() != c.text || c.is != nil && !errors.Is(c.err, c.is) {
			t.Errorf("%q, want %q, which is %v", c.err, c.text, c.is)
		}
	}
	if text := (flow.KeyErrors[int]{7: inner, 8: inner}).Error(); !strings.Contains(text, "2 keys failed") {
		t.Error(text)
	}
	if text := fmt.Sprint(flow.Event{Signal: flow.Request}); !strings.Contains(text, "request(unbounded)") {
		t.Error(text)
	}
}
