package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// postbox is an asynchronous far end whose answers a test gives. It remembers what it was handed.
type postbox struct {
	caller
	mu     sync.Mutex
	bodies []string
	until  []time.Time
	done   map[string]func(component.Outcome)
}

func newPostbox(limits component.SinkLimits) *postbox {
	b := &postbox{done: map[string]func(component.Outcome){}}
	b.limits = limits
	b.deliver = func(m *message.Message, deadline time.Time, done func(component.Outcome)) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.bodies = append(b.bodies, string(m.Body))
		b.until = append(b.until, deadline)
		b.done[string(m.Body)] = done
	}
	return b
}

// taken counts what was handed over so far.
func (b *postbox) taken() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.bodies)
}

func (b *postbox) answer(body string, o component.Outcome) {
	b.mu.Lock()
	done := b.done[body]
	b.mu.Unlock()
	done(o)
}

// answerAll answers everything that has no answer yet.
func (b *postbox) answerAll(o component.Outcome) {
	b.mu.Lock()
	waiting := b.done
	b.done = map[string]func(component.Outcome){}
	b.mu.Unlock()
	for _, done := range waiting {
		done(o)
	}
}

// started runs a pipeline of one source and one sink in a synctest bubble.
func started(t *testing.T, src component.Source, sink component.Sink, s Settings, o Options) (p *Pipeline,
	stop func() (Result, error)) {
	t.Helper()
	p = mustNew(t, &keeper{}, o, Node{Name: "in", Source: src},
		Node{Name: "out", Inputs: []string{"in"}, Sink: sink, Settings: s})
	ctx, cancel := context.WithCancel(t.Context())
	type end struct {
		r   Result
		err error
	}
	ended := make(chan end, 1)
	go func() {
		r, err := p.Run(ctx)
		ended <- end{r, err}
	}()
	synctest.Wait()
	return p, func() (Result, error) {
		cancel()
		e := <-ended
		return e.r, e.err
	}
}

func TestAsyncSinksHaveAsManyMessagesInFlightAsTheyMay(t *testing.T) {
	for name, c := range map[string]struct {
		limits component.SinkLimits
		given  int
		want   int
	}{
		"configured":                    {component.SinkLimits{InFlight: 50}, 7, 7},
		"what the sink says":            {component.SinkLimits{InFlight: 50}, 0, 50},
		"never more than the sink does": {component.SinkLimits{InFlight: 50, Concurrency: 3}, 0, 3},
		"found out, from few on":        {component.SinkLimits{}, 0, firstLimit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src, box := feedOf(numbers(100)...), newPostbox(c.limits)
				_, stop := started(t, src, box, Settings{Request: Request{Concurrency: c.given}}, Options{})
				if got := box.taken(); got != c.want {
					t.Errorf("%d are in flight, want %d", got, c.want)
				}
				box.answer("m0001", component.OK(time.Now()))
				synctest.Wait()
				if got := box.taken(); c.given > 0 && got != c.want+1 {
					t.Errorf("after an answer %d were handed over, want one more than %d", got, c.want)
				}
				for box.taken() < 100 {
					box.answerAll(component.OK(time.Now()))
					synctest.Wait()
				}
				box.answerAll(component.OK(time.Now()))
				r, err := stop()
				if err != nil || r.Delivered != 100 {
					t.Errorf("%+v, %v", r, err)
				}
				src.once(t, 100)
			})
		})
	}
}

func TestASlowAnswerHoldsUpNoOtherMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, box := feedOf(numbers(1000)...), newPostbox(component.SinkLimits{})
		_, stop := started(t, src, box, Settings{Request: Request{Concurrency: 2}}, Options{})
		for i := 1; i < 1000; i++ {
			box.answer(fmt.Sprintf("m%04d", i), component.OK(time.Now()))
			synctest.Wait()
		}
		if delivered, _ := src.verdicts(); delivered != 999 {
			t.Errorf("%d are settled while the first one hangs, want 999", delivered)
		}
		box.answer("m0000", component.OK(time.Now()))
		if r, err := stop(); err != nil || r.Delivered != 1000 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func TestMessagesInFlightCostNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := runtime.NumGoroutine()
		src, box := feedOf(numbers(5000)...), newPostbox(component.SinkLimits{InFlight: 5000})
		_, stop := started(t, src, box, Settings{}, Options{})
		if n := runtime.NumGoroutine() - before; box.taken() != 5000 || n > 10 {
			t.Errorf("%d messages in flight and %d goroutines more", box.taken(), n)
		}
		box.answerAll(component.Outcome{})
		if r, err := stop(); err != nil || r.Delivered != 5000 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func TestAnswersMayComeBeforeDeliverReturns(t *testing.T) {
	src := feedOf(numbers(5000)...)
	p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: src},
		Node{Name: "out", Inputs: []string{"in"}, Sink: &null{}})
	if r := mustRun(t, p); r.Delivered != 5000 {
		t.Errorf("%+v", r)
	}
	src.once(t, 5000)
}

func TestTheDeadlineIsTheTimeOutAndNeverBeyondAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, box := feedOf("a", "b"), newPostbox(component.SinkLimits{})
		began := time.Now()
		p, stop := started(t, src, box, Settings{Request: Request{Concurrency: 1, Timeout: 40 * time.Second}},
			Options{StopGrace: 5 * time.Second})
		if got := box.until[0].Sub(began); got != 40*time.Second {
			t.Errorf("the first deadline is %v away", got)
		}
		p.stages[0].stop(began.Add(5 * time.Second))
		box.answer("a", component.Outcome{})
		synctest.Wait()
		if got := box.until[1].Sub(began); got != 5*time.Second {
			t.Errorf("the deadline after the stop is %v away", got)
		}
		box.answer("b", component.Outcome{})
		if r, err := stop(); err != nil || r.Delivered != 2 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

func TestAStopWaitsForAnswersAndGivesTheRestBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, box := feedOf(numbers(10)...), newPostbox(component.SinkLimits{InFlight: 8})
		src.stay = true
		_, stop := started(t, src, box, Settings{}, Options{StopGrace: 3 * time.Second})
		time.AfterFunc(2*time.Second, func() { box.answer("m0003", component.Outcome{}) })
		time.AfterFunc(4*time.Second, func() { box.answer("m0004", component.Outcome{}) })
		began := time.Now()
		r, err := stop()
		if err != nil || r.Delivered != 1 || r.GivenBack != 9 {
			t.Errorf("%+v, %v", r, err)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("the stop took %v", took)
		}
		src.once(t, 10)
		time.Sleep(2 * time.Second) // the late answer changes nothing
		if delivered, back := src.verdicts(); delivered != 1 || back != 9 {
			t.Errorf("%d delivered, %d given back", delivered, back)
		}
		if box.closed != 1 {
			t.Errorf("closed %d times", box.closed)
		}
	})
}

// TestAStopWaitsForNothingThatCannotBeSettled: an answer that comes could not be written down.
func TestAStopWaitsForNothingThatCannotBeSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, box := feedOf(numbers(10)...), newPostbox(component.SinkLimits{InFlight: 8})
		src.stay = true
		over := make(chan struct{})
		_, stop := started(t, src, box, Settings{}, Options{StopGrace: 3 * time.Second, Abandon: over})
		time.AfterFunc(time.Second, func() { close(over) })
		began := time.Now()
		if r, err := stop(); err != nil || r.Delivered != 0 || r.GivenBack != 10 {
			t.Errorf("%+v, %v", r, err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("the stop took %v", took)
		}
		src.once(t, 10)
	})
}

func TestAnAsyncSinkThatCanGoNoFurtherStopsThePipeline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, box := feedOf(numbers(3)...), newPostbox(component.SinkLimits{InFlight: 3})
		src.stay = true
		_, stop := started(t, src, box, Settings{}, Options{StopGrace: time.Second})
		box.answer("m0001", component.Again(0, enough{}))
		time.Sleep(2 * time.Second)
		r, err := stop()
		var node *NodeError
		if !errors.As(err, &node) || node.Node != "out" || !errors.Is(err, enough{}) || r.GivenBack != 3 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

type enough struct{}

func (enough) Error() string { return "nobody reads any more" }
func (enough) Stop() bool    { return true }

func TestWhatNobodyWantsAnyMoreIsSettledAndCountedAndNoDeadLetter(t *testing.T) {
	dropped := component.Drop(fmt.Errorf("offer of yesterday: %w", component.ErrExpired))
	sinks := map[string]component.Sink{
		"async": &caller{deliver: func(_ *message.Message, _ time.Time,
			done func(component.Outcome)) {
			done(dropped)
		}},
		"batch": &answer{send: each(func(string) component.Outcome { return dropped })},
	}
	for name, sink := range sinks {
		t.Run(name, func(t *testing.T) {
			src, k := feedOf(numbers(3)...), &keeper{}
			p := mustNew(t, k, Options{}, Node{Name: "in", Source: src},
				Node{Name: "out", Inputs: []string{"in"}, Sink: sink})
			r := mustRun(t, p)
			if r.Dropped != 3 || r.Delivered+r.DeadLettered+r.GivenBack+r.Retried != 0 || r.Nodes[1].Dropped != 3 ||
				r.Nodes[1].Delivered != 0 {
				t.Errorf("%+v", r)
			}
			if delivered, _ := src.verdicts(); delivered != 3 || k.puts != 0 {
				t.Errorf("%d settled, %d dead letters", delivered, k.puts)
			}
		})
	}
}

func TestAsyncRetriesSleepAndArePacedLikeOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := map[string][]time.Duration{}
		began := time.Now()
		sink := &caller{deliver: func(m *message.Message, _ time.Time, done func(component.Outcome)) {
			body := string(m.Body)
			tries[body] = append(tries[body], time.Since(began))
			if body == "m0000" && len(tries[body]) < 3 {
				done(component.Again(10*time.Second, errDown))
				return
			}
			done(component.Outcome{})
		}}
		src := feedOf(numbers(20)...)
		p := mustNew(t, &keeper{}, Options{Rand: func() float64 { return 0 }}, Node{Name: "in", Source: src},
			Node{Name: "out", Inputs: []string{"in"}, Sink: sink,
				Settings: Settings{Request: Request{Concurrency: 100, RateNum: 10}}})
		if r := mustRun(t, p); r.Delivered != 20 || r.Retried != 2 {
			t.Errorf("%+v", r)
		}
		if got := fmt.Sprint(tries["m0000"]); got != "[0s 10s 20s]" {
			t.Errorf("the first was tried at %s", got)
		}
		for i := 1; i < 20; i++ {
			if got, want := tries[fmt.Sprintf("m%04d", i)][0], time.Duration(i)*100*time.Millisecond; got != want {
				t.Errorf("message %d was sent at %v, want %v", i, got, want)
			}
		}
	})
}

func TestWhatIsHeldBackIsNoTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		times := 0
		sink := &caller{deliver: func(_ *message.Message, _ time.Time, done func(component.Outcome)) {
			if times++; times <= 20 {
				done(component.Hold(time.Minute, errDown))
				return
			}
			done(component.Outcome{})
		}}
		began := time.Now()
		p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: feedOf("a")},
			Node{Name: "out", Inputs: []string{"in"}, Sink: sink,
				Settings: Settings{Request: Request{RetryAttempts: NoRetries}}})
		if r := mustRun(t, p); r.Delivered != 1 || r.Retried != 20 || time.Since(began) != 20*time.Minute {
			t.Errorf("after %v: %+v", time.Since(began), r)
		}
	})
}

func TestAPanicOfAnAsyncSinkIsARetryOfThatMessage(t *testing.T) {
	sink := &caller{}
	tries := 0
	sink.deliver = func(m *message.Message, _ time.Time, done func(component.Outcome)) {
		if string(m.Body) == "m0001" {
			if tries++; tries == 1 {
				panic("oh")
			}
		}
		done(component.Outcome{})
	}
	src := feedOf(numbers(3)...)
	p := mustNew(t, &keeper{}, Options{Rand: func() float64 { return 0 }}, Node{Name: "in", Source: src},
		Node{Name: "out", Inputs: []string{"in"}, Sink: sink})
	r := mustRun(t, p)
	if r.Delivered != 3 || r.Nodes[1].Panics != 1 || !strings.Contains(r.Nodes[1].LastError, "oh") {
		t.Errorf("%+v", r)
	}
}

func TestSendAsyncAnswersForABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := newPostbox(component.SinkLimits{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		time.AfterFunc(time.Millisecond, func() { box.answer("a", component.OK(time.Now())) })
		os, err := box.Send(ctx, []*message.Message{text("a"), text("b")})
		if err != nil || len(os) != 2 || os[0].Verdict != component.Delivered || os[1].Verdict != component.Retry ||
			!errors.Is(os[1].Reason, context.DeadlineExceeded) {
			t.Errorf("%+v, %v", os, err)
		}
		box.answer("b", component.OK(time.Now())) // too late
		if os[1].Verdict != component.Retry {
			t.Error("a late answer changed the outcomes")
		}
		if os, err := box.Send(ctx, nil); err != nil || len(os) != 0 {
			t.Errorf("%+v, %v", os, err)
		}
	})
}
