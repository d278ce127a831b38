package pipeline

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/pace"
)

// pacedSinks are the two sorts of sinks, each with what notes a message.
func pacedSinks(note func()) map[string]component.Sink {
	return map[string]component.Sink{
		"batches": &answer{limits: component.SinkLimits{MaxEvents: 1}, send: each(func(string) component.Outcome {
			note()
			return component.Outcome{}
		})},
		"one by one": &caller{deliver: func(_ *message.Message, _ time.Time, done func(component.Outcome)) {
			note()
			done(component.Outcome{})
		}},
	}
}

func TestAPaceIsKeptToTheNanosecond(t *testing.T) {
	for _, name := range []string{"batches", "one by one"} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			var at []time.Duration
			sink := pacedSinks(func() { at = append(at, time.Since(began)) })[name]
			p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: feedOf(numbers(3000)...)},
				Node{Name: "out", Inputs: []string{"in"}, Sink: sink,
					Settings: Settings{Batch: Batch{MaxEvents: 1},
						Request: Request{Concurrency: 1, Pace: pace.NTSC()}}})
			mustRun(t, p)
			for i, got := range at {
				if want := pace.NTSC().Deadline(int64(i)); got != want {
					t.Fatalf("%s: message %d was sent at %v, want %v", name, i, got, want)
				}
			}
			if len(at) != 3000 {
				t.Errorf("%s: %d were sent", name, len(at))
			}
		})
	}
}

// A limit gives way to everything that is late; a pace does not, or it would be slower than it says by what each timer
// is late.
func TestALateTimerDelaysALimitButNoPace(t *testing.T) {
	for name, c := range map[string]struct {
		request Request
		want    time.Duration // after 1000 requests
	}{
		"limit": {Request{RateNum: 100, RateDuration: time.Second}, 1000*10*time.Millisecond + 1000*time.Millisecond},
		"pace":  {Request{Pace: perSecond(t, 100)}, 1000 * 10 * time.Millisecond},
	} {
		p := newPacer(c.request)
		start := time.Unix(0, 0)
		p.took(start)
		for range 999 {
			p.took(p.next().Add(time.Millisecond))
		}
		if got := p.next().Sub(start); got < c.want-2*time.Millisecond || got > c.want {
			t.Errorf("%s: the 1000th at %v, want %v", name, got, c.want)
		}
	}
}

func TestAPaceBeginsAnewAfterAPauseAndNeverCatchesUp(t *testing.T) {
	p := newPacer(Request{Pace: perSecond(t, 10)})
	start := time.Unix(0, 0)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	p.took(start)
	p.took(at(time.Hour)) // nothing came for an hour: what comes is sent at once,
	if got := p.next(); !got.Equal(at(time.Hour + 100*time.Millisecond)) {
		t.Errorf("and the next at %v", got)
	}
}

func perSecond(t *testing.T, n int64) pace.Rate {
	t.Helper()
	r, err := pace.PerSecond(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
