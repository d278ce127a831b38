package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestARejectedMessageBecomesADeadLetterAsItCame(t *testing.T) {
	src := feedOf("good", "bad")
	bad := src.deliveries[1]
	bad.Queue, bad.Attempt = "shop/news", 3
	bad.Message.NotBefore = time.Unix(5, 0)
	bad.Message.Key, bad.Message.Dedup, bad.Message.Only = "k", "d", "out"
	bad.Message.Attributes.Set("lang", message.String("ja"))
	bad.Message.Origin = message.Origin{Source: "file", Offset: 9, Part: 1, Mark: 4}
	src.deliveries[1] = bad
	shape := change(func(_ context.Context, m *message.Message, emit component.Emit) error {
		emit("", upper(m))
		return nil
	})
	out := &answer{send: each(func(body string) component.Outcome {
		if body == "BAD" {
			return component.Reject(errors.New("no such device"))
		}
		return component.Outcome{}
	})}
	keeper := &keeper{}
	now := time.Unix(1000, 0)
	p := mustNew(t, keeper, Options{Clock: func() time.Time { return now }},
		Node{Name: "in", Source: src},
		Node{Name: "shape", Inputs: []string{"in"}, Transform: shape},
		Node{Name: "out", Inputs: []string{"shape"}, Sink: out},
	)
	r := mustRun(t, p)
	src.once(t, 2)
	if n, _ := src.verdicts(); n != 2 || r.Delivered != 1 || r.DeadLettered != 1 {
		t.Errorf("settled as delivered %d; %+v", n, r)
	}
	dead := keeper.queues["out_dead"]
	if len(dead) != 1 {
		t.Fatalf("%d dead letters", len(dead))
	}
	m := dead[0]
	if string(m.Body) != "bad" || m.ID != bad.Message.ID || m.Key != "k" || len(m.Attributes) != 1 {
		t.Errorf("the dead letter is not the message as it came: %+v", m)
	}
	if want := (message.Death{Queue: "shop/news", Step: "out", Reason: "no such device", Attempts: 3,
		Time: now}); *m.Death != want {
		t.Errorf("death %+v, want %+v", *m.Death, want)
	}
	if m.Only != "" || !m.NotBefore.IsZero() || m.Dedup != "" {
		t.Errorf("only %q, not before %v, dedup %q: all would keep a replay from its way", m.Only, m.NotBefore, m.Dedup)
	}
	if o := m.Origin; o.Source != "file" || o.Offset != 9 || o.Mark != 0 || o.Part == 1 {
		t.Errorf("origin %+v", o)
	}
	if bad.Message.Death != nil || bad.Message.Only != "out" {
		t.Error("the source's own message was changed")
	}
	for _, n := range r.Nodes {
		if n.Name == "out" && (n.Rejected != 1 || n.Dead != 1 || n.Delivered != 1 || n.LastError != "no such device") {
			t.Errorf("%+v", n)
		}
	}
}

func TestAFailedTransformLetsNothingThrough(t *testing.T) {
	src, out, keeper := feedOf("good", "bad", "panic", "port", "nil"), &answer{}, &keeper{}
	half := change(func(_ context.Context, m *message.Message, emit component.Emit) error {
		emit("", m)
		switch string(m.Body) {
		case "bad":
			return errors.New("broken in the middle")
		case "panic":
			panic("oh")
		case "port":
			emit("nowhere", m)
		case "nil":
			emit("", nil)
		}
		return nil
	})
	var logged bytes.Buffer
	p := mustNew(t, keeper, Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))},
		Node{Name: "in", Source: src},
		Node{Name: "half", Inputs: []string{"in"}, Transform: half, Settings: Settings{DeadLetter: "shop/graves"}},
		Node{Name: "out", Inputs: []string{"half"}, Sink: out},
	)
	r := mustRun(t, p)
	equal(t, "delivered", out.got(), []string{"good"})
	equal(t, "dead letters", keeper.bodies("shop/graves"), []string{"bad", "nil", "panic", "port"})
	if r.DeadLettered != 4 {
		t.Errorf("%+v", r)
	}
	for _, m := range keeper.queues["shop/graves"] {
		if m.Death.Step != "half" || m.Death.Attempts != 1 || m.Death.Queue != "" {
			t.Errorf("death %+v", *m.Death)
		}
	}
	if strings.Count(logged.String(), "stack=") != 1 || !strings.Contains(logged.String(), "component=half") {
		t.Errorf("logged %s", logged.String())
	}
}

func TestARetriedTransformSleepsAndHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, out, keeper := feedOf("slow", "never", "a", "b"), &answer{}, &keeper{}
		began := time.Now()
		tries := map[string]int{}
		var at []string
		look := change(func(_ context.Context, m *message.Message, emit component.Emit) error {
			body := string(m.Body)
			tries[body]++
			if body == "never" || body == "slow" && tries[body] < 3 {
				return component.RetryError(time.Minute, errDown)
			}
			at = append(at, fmt.Sprint(body, " ", time.Since(began)))
			emit("", m)
			return nil
		})
		p := mustNew(t, keeper, Options{},
			Node{Name: "in", Source: src},
			Node{Name: "look", Inputs: []string{"in"}, Transform: look,
				Settings: Settings{Request: Request{RetryAttempts: 4}}},
			Node{Name: "out", Inputs: []string{"look"}, Sink: out},
		)
		mustRun(t, p)
		equal(t, "when", at, []string{"a 0s", "b 0s", "slow 2m0s"})
		if tries["never"] != 5 {
			t.Errorf("tried %d times, want the first and 4 retries", tries["never"])
		}
		dead := keeper.queues["look_dead"]
		if len(dead) != 1 || !strings.Contains(dead[0].Death.Reason, "after 5 tries") ||
			!strings.Contains(dead[0].Death.Reason, errDown.Error()) {
			t.Errorf("dead letters %+v", dead)
		}
	})
}

func TestRetriesBackOffAndThenTheMessageIsDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, keeper := feedOf("m"), &keeper{}
		began := time.Now()
		var at []time.Duration
		out := &answer{send: each(func(string) component.Outcome {
			at = append(at, time.Since(began))
			return component.Again(0, errDown)
		})}
		p := mustNew(t, keeper, Options{Rand: func() float64 { return 0.5 }},
			Node{Name: "in", Source: src},
			Node{Name: "out", Inputs: []string{"in"}, Sink: out,
				Settings: Settings{Request: Request{RetryInitial: 2 * time.Second, RetryMax: 10 * time.Second}}},
		)
		mustRun(t, p)
		// Half of 2, 4, 8, 10 and 10 seconds.
		if got, want := fmt.Sprint(at), "[0s 1s 3s 7s 12s 17s]"; got != want {
			t.Errorf("tried at %s, want %s", got, want)
		}
		if len(keeper.queues["out_dead"]) != 1 {
			t.Error("no dead letter")
		}
	})
}

func TestNoRetriesAndUnboundedRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var once, ever int // each its own: the sinks work at the same time
		send := func(tries *int) *answer {
			return &answer{send: each(func(string) component.Outcome {
				if *tries++; *tries < 500 {
					return component.Again(0, errDown)
				}
				return component.Outcome{}
			})}
		}
		src, keeper := feedOf("m"), &keeper{}
		p := mustNew(t, keeper, Options{},
			Node{Name: "in", Source: src},
			Node{Name: "once", Inputs: []string{"in"}, Sink: send(&once),
				Settings: Settings{Request: Request{RetryAttempts: NoRetries}}},
			Node{Name: "ever", Inputs: []string{"in"}, Sink: send(&ever),
				Settings: Settings{Request: Request{RetryAttempts: Unbounded}}},
		)
		mustRun(t, p)
		if once != 1 || ever != 500 {
			t.Errorf("tries %d and %d", once, ever)
		}
		src.once(t, 1)
	})
}

func TestPoisonStandsAloneByHalves(t *testing.T) {
	for name, poison := range map[string]func() error{
		"rejected": func() error { return component.RejectError(errors.New("row 7 is too long")) },
		"panic":    func() error { panic("row 7") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bodies := numbers(1000)
				poisoned := []string{"m0123", "m0600", "m0601"}
				out := &answer{}
				out.send = func(_ context.Context, batch []*message.Message) ([]component.Outcome, error) {
					for _, m := range batch {
						if slices.Contains(poisoned, string(m.Body)) {
							return nil, poison()
						}
					}
					return make([]component.Outcome, len(batch)), nil
				}
				src, keeper := feedOf(bodies...), &keeper{}
				p := mustNew(t, keeper, Options{},
					Node{Name: "in", Source: src},
					Node{Name: "out", Inputs: []string{"in"}, Sink: out, Settings: Settings{
						Batch:   Batch{MaxEvents: 500, Timeout: time.Second},
						Request: Request{Concurrency: 1, RetryAttempts: 2},
					}},
				)
				mustRun(t, p)
				equal(t, "dead letters", keeper.bodies("out_dead"), poisoned)
				if n := len(out.got()); n != 997 {
					t.Errorf("delivered %d of 997", n)
				}
				src.once(t, 1000)
				if name == "rejected" && len(out.batches) > 2+3*2*9 {
					t.Errorf("%d requests for 3 poison messages in 2 batches of 500", len(out.batches))
				}
				if name == "rejected" && !slices.IsSorted(out.got()) {
					t.Error("halves left in another order")
				}
			})
		})
	}
}

func TestAnErrorForTheWholeBatchIsARetryOfTheWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		out := &answer{}
		out.send = func(_ context.Context, batch []*message.Message) ([]component.Outcome, error) {
			switch calls++; calls {
			case 1:
				return nil, errDown
			case 2:
				return nil, nil // a sink that forgot to answer
			case 3:
				return make([]component.Outcome, 1), nil // one that answered for somebody else
			}
			return make([]component.Outcome, len(batch)), nil
		}
		src := feedOf(numbers(4)...)
		p := mustNew(t, &keeper{}, Options{Rand: func() float64 { return 0.5 }}, // all sleep equally long
			Node{Name: "in", Source: src},
			Node{Name: "out", Inputs: []string{"in"}, Sink: out,
				Settings: Settings{Batch: Batch{Timeout: time.Second, MaxEvents: 4}}},
		)
		r := mustRun(t, p)
		for i, b := range out.batches {
			if i < 4 && len(b) != 4 {
				t.Errorf("request %d has %d messages", i, len(b))
			}
		}
		if len(out.got()) != 4 || r.Delivered != 4 || r.Retried != 3 { // requests, not their messages
			t.Errorf("delivered %d, %+v", len(out.got()), r)
		}
	})
}

func TestASlowOrHungDeliveryHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var done time.Duration
		out := &answer{limits: component.SinkLimits{MaxEvents: 1}}
		left := 199
		tries := 0
		out.send = func(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
			if string(batch[0].Body) == "m0000" {
				if tries++; tries == 1 {
					<-ctx.Done()
					return nil, ctx.Err()
				}
			} else {
				time.Sleep(10 * time.Millisecond)
				if left--; left == 0 {
					done = time.Since(began)
				}
			}
			return make([]component.Outcome, 1), nil
		}
		src := feedOf(numbers(200)...)
		p := mustNew(t, &keeper{}, Options{Rand: func() float64 { return 0 }},
			Node{Name: "in", Source: src},
			Node{Name: "out", Inputs: []string{"in"}, Sink: out,
				Settings: Settings{Request: Request{Concurrency: 2, Timeout: 30 * time.Second}}},
		)
		r := mustRun(t, p)
		if done > 2*time.Second {
			t.Errorf("the others took %v", done)
		}
		if took := time.Since(began); took != 30*time.Second || tries != 2 {
			t.Errorf("the hung one took %v and %d tries", took, tries)
		}
		for _, n := range r.Nodes {
			if n.Name == "out" && !strings.Contains(n.LastError, "no answer within 30s") {
				t.Errorf("last error %q", n.LastError)
			}
		}
	})
}

func TestASleepingRetryHoldsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		out := &answer{limits: component.SinkLimits{MaxEvents: 1, Concurrency: 1}}
		first := true
		var order []string
		out.send = each(func(body string) component.Outcome {
			if body == "m0000" && first {
				first = false
				return component.Again(time.Hour, errDown)
			}
			order = append(order, fmt.Sprint(body, " ", time.Since(began)))
			return component.Outcome{}
		})
		p := mustNew(t, &keeper{}, Options{},
			Node{Name: "in", Source: feedOf(numbers(4)...)},
			Node{Name: "out", Inputs: []string{"in"}, Sink: out},
		)
		mustRun(t, p)
		equal(t, "order", order, []string{"m0001 0s", "m0002 0s", "m0003 0s", "m0000 1h0m0s"})
	})
}

func TestADeadLetterThatCannotBeKeptIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var logged bytes.Buffer
		src := feedOf("good", "bad")
		keeper := &keeper{fail: func(queue.Name, []message.Message) error {
			if time.Since(began) < time.Hour {
				return errors.New("disk full")
			}
			return nil
		}}
		out := &answer{send: each(func(body string) component.Outcome {
			if body == "bad" {
				return component.Reject(errDown)
			}
			return component.Outcome{}
		})}
		p := mustNew(t, keeper, Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))},
			Node{Name: "in", Source: src},
			Node{Name: "out", Inputs: []string{"in"}, Sink: out},
		)
		mustRun(t, p)
		if took := time.Since(began); took < time.Hour || took > time.Hour+DefaultRetryMax {
			t.Errorf("settled after %v", took)
		}
		equal(t, "dead letters", keeper.bodies("out_dead"), []string{"bad"})
		src.once(t, 2)
		if n := strings.Count(logged.String(), "cannot be written"); n != 1 {
			t.Errorf("logged %d times: %s", n, logged.String())
		}
		if n := strings.Count(logged.String(), "a step waits"); n < 8 || n > 14 {
			t.Errorf("in an hour it is said %d times that it waits: %s", n, logged.String())
		}
	})
}

func TestADeadLetterThatCannotBeKeptUntilTheStopIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := feedOf("good", "bad")
		src.stay = true
		keeper := &keeper{fail: func(queue.Name, []message.Message) error { return errors.New("disk full") }}
		out := &answer{send: each(func(body string) component.Outcome {
			if body == "bad" {
				return component.Reject(errDown)
			}
			return component.Outcome{}
		})}
		seen := &witness{}
		p := mustNew(t, keeper, Options{Observe: seen},
			Node{Name: "in", Source: src},
			Node{Name: "out", Inputs: []string{"in"}, Sink: out},
		)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		r, err := p.Run(ctx)
		if err != nil || r.Delivered != 1 || r.GivenBack != 1 || r.DeadLettered != 0 {
			t.Errorf("%+v, %v", r, err)
		}
		src.once(t, 2)
		if o := src.settled["bad"][0]; o.Verdict != component.Retry {
			t.Errorf("settled as %v", o.Verdict)
		}
		equal(t, "observed", seen.lines, []string{"good out delivered", "bad out retry"})
	})
}

func TestATooLargeDeadLetterHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := feedOf(append(numbers(20), "large")...)
		src.stay = true
		keeper := &keeper{fail: func(_ queue.Name, msgs []message.Message) error {
			for _, m := range msgs {
				if string(m.Body) == "large" {
					return fmt.Errorf("%w: 5 bytes", queue.ErrTooLarge)
				}
			}
			return nil
		}}
		out := &answer{send: each(func(string) component.Outcome { return component.Reject(errDown) })}
		p := mustNew(t, keeper, Options{},
			Node{Name: "in", Source: src},
			Node{Name: "out", Inputs: []string{"in"}, Sink: out},
		)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		r, err := p.Run(ctx)
		if err != nil || r.DeadLettered != 20 || r.GivenBack != 1 {
			t.Errorf("%+v, %v", r, err)
		}
		equal(t, "dead letters", keeper.bodies("out_dead"), numbers(20))
	})
}

func TestAMessageIsADeadLetterOfAStepOnce(t *testing.T) {
	ten := change(func(_ context.Context, m *message.Message, emit component.Emit) error {
		for range 10 {
			emit("", m)
		}
		return nil
	})
	reject := func() *answer {
		return &answer{send: each(func(string) component.Outcome { return component.Reject(errDown) })}
	}
	src, keeper := feedOf("m"), &keeper{}
	src.deliveries[0].Message.Origin.Source = "file"
	p := mustNew(t, keeper, Options{},
		Node{Name: "in", Source: src},
		Node{Name: "ten", Inputs: []string{"in"}, Transform: ten},
		Node{Name: "a", Inputs: []string{"ten"}, Sink: reject(), Settings: Settings{DeadLetter: "graves"}},
		Node{Name: "b", Inputs: []string{"ten"}, Sink: reject(), Settings: Settings{DeadLetter: "graves"}},
	)
	r := mustRun(t, p)
	graves := keeper.queues["graves"]
	if len(graves) != 2 || graves[0].Death.Step == graves[1].Death.Step {
		t.Fatalf("%d dead letters, want one for each sink", len(graves))
	}
	if graves[0].Origin.Part == graves[1].Origin.Part {
		t.Error("the dead letters of two steps have one origin: the queue would refuse the second")
	}
	if r.DeadLettered != 1 {
		t.Errorf("%+v", r)
	}
	src.once(t, 1)
}

func TestPanicsOfSourcesAreErrors(t *testing.T) {
	src := &feed{began: func() { panic("oh") }}
	p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: src},
		Node{Name: "out", Inputs: []string{"in"}, Sink: &answer{}})
	_, err := p.Run(t.Context())
	var panicked *PanicError
	var node *NodeError
	if !errors.As(err, &panicked) || !errors.As(err, &node) || node.Node != "in" {
		t.Errorf("error %v", err)
	}
}

func TestAPanickingSettleIsNoDisaster(t *testing.T) {
	var settled atomic.Int64
	src := sends(func(ctx context.Context, out component.Out) error {
		for range 3 {
			if err := out.Send(ctx, component.Delivery{Message: text("m"),
				Settle: func(component.Outcome) { settled.Add(1); panic("oh") }}); err != nil {
				return err
			}
		}
		return nil
	})
	p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: src},
		Node{Name: "out", Inputs: []string{"in"}, Sink: &answer{}})
	r := mustRun(t, p)
	if settled.Load() != 3 || r.Nodes[0].Panics != 3 {
		t.Errorf("settled %d, %+v", settled.Load(), r.Nodes[0])
	}
}

// sends is a source made of a function.
type sends func(ctx context.Context, out component.Out) error

func (s sends) Run(ctx context.Context, out component.Out) error { return s(ctx, out) }
func (sends) Close() error                                       { return nil }

func TestADeliveryWithoutAMessageIsRefused(t *testing.T) {
	src := sends(func(ctx context.Context, out component.Out) error { return out.Send(ctx, component.Delivery{}) })
	p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: src},
		Node{Name: "out", Inputs: []string{"in"}, Sink: &answer{}})
	if _, err := p.Run(t.Context()); !errors.Is(err, ErrNoMessage) {
		t.Errorf("error %v", err)
	}
}
