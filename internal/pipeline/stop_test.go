package pipeline

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestStopFinishesWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		src := feedOf(numbers(20)...)
		src.stay, src.began = true, cancel
		out := &answer{limits: component.SinkLimits{MaxEvents: 5, Concurrency: 1}}
		out.send = func(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
			time.Sleep(time.Second)
			return make([]component.Outcome, len(batch)), ctx.Err()
		}
		p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: src},
			Node{Name: "out", Inputs: []string{"in"}, Sink: out})
		r, err := p.Run(ctx)
		if err != nil || r.Delivered != 20 || r.GivenBack != 0 {
			t.Errorf("%+v, %v", r, err)
		}
		src.once(t, 20)
	})
}

func TestStopGivesBackWhatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		src := feedOf(numbers(20)...)
		src.stay, src.began = true, cancel
		out := &answer{limits: component.SinkLimits{MaxEvents: 1, Concurrency: 1}}
		out.send = func(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
			select {
			case <-time.After(2 * time.Second):
				return make([]component.Outcome, len(batch)), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		keeper := &keeper{}
		p := mustNew(t, keeper, Options{StopGrace: 5 * time.Second},
			Node{Name: "in", Source: src},
			Node{Name: "pass", Inputs: []string{"in"}, Transform: same},
			Node{Name: "out", Inputs: []string{"pass"}, Sink: out,
				Settings: Settings{Request: Request{RetryAttempts: NoRetries}}})
		began := time.Now()
		r, err := p.Run(ctx)
		if err != nil || r.Delivered != 2 || r.GivenBack != 18 {
			t.Errorf("%+v, %v", r, err)
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("stopped after %v", took)
		}
		src.once(t, 20)
		if len(keeper.queues) != 0 {
			t.Errorf("dead letters %v: a stop is not the message's fault", keeper.queues)
		}
	})
}

func TestStopDoesNotWaitForSleepersThatWakeTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		src := feedOf("soon", "late", "again")
		src.stay = true
		began := time.Now()
		out := &answer{send: each(func(body string) component.Outcome {
			switch {
			case body == "late":
				return component.Again(time.Hour, errDown)
			case body == "soon" && time.Since(began) < time.Minute:
				return component.Again(time.Minute+600*time.Millisecond, errDown)
			case body == "again": // wakes soon enough, and would then sleep for too long
				return component.Again(time.Minute+400*time.Millisecond, errDown)
			}
			return component.Outcome{}
		})}
		p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: src},
			Node{Name: "out", Inputs: []string{"in"}, Sink: out})
		r, err := p.Run(ctx)
		if err != nil || r.Delivered != 1 || r.GivenBack != 2 {
			t.Errorf("%+v, %v", r, err)
		}
		if took := time.Since(began); took != time.Minute+600*time.Millisecond {
			t.Errorf("stopped after %v", took)
		}
		src.once(t, 3)
	})
}

// noMore asks for the end of the pipeline.
type noMore struct{ error }

func (noMore) Stop() bool { return true }

func TestASinkThatCanDeliverNoMoreStopsThePipelineAndMakesNoDeadLetters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := feedOf(numbers(20)...)
		src.stay = true
		out := &answer{limits: component.SinkLimits{MaxEvents: 5, Concurrency: 1}}
		calls := 0
		out.send = func(_ context.Context, batch []*message.Message) ([]component.Outcome, error) {
			if calls++; calls > 2 {
				synctest.Wait() // the source has sent all
				return nil, noMore{errDown}
			}
			return make([]component.Outcome, len(batch)), nil
		}
		keeper := &keeper{}
		p := mustNew(t, keeper, Options{}, Node{Name: "in", Source: src},
			Node{Name: "out", Inputs: []string{"in"}, Sink: out})
		r, err := p.Run(t.Context())
		var node *NodeError
		if !errors.As(err, &node) || node.Node != "out" || !component.IsStop(err) {
			t.Errorf("error %v", err)
		}
		if r.Delivered == 0 || r.Delivered+r.GivenBack != 20 || len(keeper.queues) != 0 {
			t.Errorf("%+v, dead letters %v", r, keeper.queues)
		}
		src.once(t, 20)
	})
}

func TestASourceThatFailsStopsTheOthersCleanly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good := feedOf(numbers(5)...)
		good.stay = true
		bad := feedOf("x")
		bad.err = errDown
		out := &answer{send: each(func(string) component.Outcome {
			time.Sleep(time.Second)
			return component.Outcome{}
		})}
		p := mustNew(t, &keeper{}, Options{},
			Node{Name: "good", Source: good}, Node{Name: "bad", Source: bad},
			Node{Name: "out", Inputs: []string{"good", "bad"}, Sink: out})
		r, err := p.Run(t.Context())
		var node *NodeError
		if !errors.As(err, &node) || node.Node != "bad" || node.Doing != "run" || !errors.Is(err, errDown) {
			t.Errorf("error %v", err)
		}
		good.once(t, int(r.Delivered)-1)
		bad.once(t, 1)
		if r.GivenBack != 0 {
			t.Errorf("%+v", r)
		}
	})
}

func TestAStopWhileThePipelineIsFullEndsTheSourcesSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		src := feedOf(numbers(100)...)
		// A source that waits with a context of its own is let go, too.
		own := sends(func(_ context.Context, out component.Out) error {
			for {
				if err := out.Send(context.Background(), component.Delivery{Message: text("own")}); err != nil {
					if !errors.Is(err, ErrStopping) {
						t.Errorf("error %v", err)
					}
					return err
				}
			}
		})
		out := &answer{send: func(ctx context.Context, _ []*message.Message) ([]component.Outcome, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		p := mustNew(t, &keeper{}, Options{MaxInFlight: 10},
			Node{Name: "in", Source: src}, Node{Name: "own", Source: own},
			Node{Name: "out", Inputs: []string{"in", "own"}, Sink: out,
				Settings: Settings{Request: Request{Timeout: time.Hour}}})
		r, err := p.Run(ctx)
		if err != nil || r.GivenBack != 10 {
			t.Errorf("%+v, %v", r, err)
		}
		if !errors.Is(src.sendErr, context.DeadlineExceeded) {
			t.Errorf("the source's Send answered %v", src.sendErr)
		}
	})
}

func TestAStopDuringTheStartClosesWhatWasStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		out := &answer{}
		p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: feedOf("m")},
			Node{Name: "out", Inputs: []string{"in"}, Sink: out},
			Node{Name: "slow", Inputs: []string{"in"}, Sink: &slowStart{}})
		if _, err := p.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if out.closed != 1 {
			t.Errorf("closed %d times", out.closed)
		}
	})
}

type slowStart struct{ answer }

func (*slowStart) Start(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestWhatAStartOpenedLivesThroughTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		src := feedOf("m")
		src.stay, src.began = true, cancel
		out := &keepsContext{}
		out.send = func(_ context.Context, batch []*message.Message) ([]component.Outcome, error) {
			time.Sleep(time.Second)
			return make([]component.Outcome, len(batch)), out.ctx.Err()
		}
		p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: src},
			Node{Name: "out", Inputs: []string{"in"}, Sink: out})
		r, err := p.Run(ctx)
		if err != nil || r.Delivered != 1 || r.Nodes[1].LastError != "" {
			t.Errorf("%+v, %v", r, err)
		}
		if out.ctx.Err() == nil {
			t.Error("the context of the start outlived the run")
		}
	})
}

type keepsContext struct {
	answer
	ctx context.Context
}

func (k *keepsContext) Start(ctx context.Context) error { k.ctx = ctx; return nil }

func TestABatchThatFailsAsAWholeAfterTheGraceIsGivenBack(t *testing.T) {
	for name, fail := range map[string]func() error{
		"rejected": func() error { return component.RejectError(errDown) },
		"panic":    func() error { panic("oh") },
		"retry":    func() error { return errDown },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				src := feedOf(numbers(20)...)
				src.stay, src.began = true, cancel
				out := &answer{send: func(ctx context.Context, _ []*message.Message) ([]component.Outcome, error) {
					<-ctx.Done()
					time.Sleep(time.Second)
					return nil, fail()
				}}
				keeper := &keeper{}
				p := mustNew(t, keeper, Options{}, Node{Name: "in", Source: src},
					Node{Name: "out", Inputs: []string{"in"}, Sink: out,
						Settings: Settings{Batch: Batch{MaxEvents: 10, Timeout: time.Minute}}})
				r, err := p.Run(ctx)
				if err != nil || r.GivenBack != 20 || r.DeadLettered != 0 || len(keeper.queues) != 0 {
					t.Errorf("%+v, %v, dead letters %v", r, err, keeper.queues)
				}
				src.once(t, 20)
			})
		})
	}
}

// mailbox is a source that, when it is to end, still has something to bring in, and takes a while for it.
type mailbox struct {
	feed
	takes time.Duration
}

func (m *mailbox) Parts() time.Duration { return 3 * time.Second }

func (m *mailbox) Run(ctx context.Context, out component.Out) error {
	<-ctx.Done()
	time.Sleep(m.takes)
	return m.feed.Run(context.WithoutCancel(ctx), out)
}

func TestASourceThatPartsBringsInWhatItWasHanded(t *testing.T) {
	for _, c := range []struct {
		takes     time.Duration
		delivered uint64
	}{{2 * time.Second, 5}, {4 * time.Second, 0}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			src := &mailbox{feed: *feedOf(numbers(5)...), takes: c.takes}
			p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: src},
				Node{Name: "out", Inputs: []string{"in"}, Sink: &answer{}})
			time.AfterFunc(time.Second, cancel)
			if r, err := p.Run(ctx); err != nil || r.Delivered != c.delivered {
				t.Errorf("a source that takes %v: %+v, %v", c.takes, r, err)
			}
		})
	}
}
