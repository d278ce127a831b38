package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// uneven makes none, one or two of a message, or fails, by its number.
var uneven = slabwise{change(func(_ context.Context, m *message.Message, emit component.Emit) error {
	body := string(m.Body)
	switch body[len(body)-1] {
	case '0':
		return nil
	case '1':
		emit("", m)
		return errDown
	case '2':
		emit("", text(body+"a"))
		emit("", text(body+"b"))
		return nil
	case '3':
		emit("", m)
		return nil
	}
	emit("", text(body))
	return nil
})}

func TestSlabsKeepTheOrderWhateverIsMadeOfTheirMessages(t *testing.T) {
	src := feedOf(numbers(1000)...)
	src.slab = 64
	var want, dead []string
	for _, body := range numbers(1000) {
		switch body[len(body)-1] {
		case '0':
		case '1':
			dead = append(dead, body)
		case '2':
			want = append(want, body+"a", body+"b")
		default:
			want = append(want, body)
		}
	}
	keeper, out := &keeper{}, &answer{limits: component.SinkLimits{Concurrency: 1}}
	p := mustNew(t, keeper, Options{MaxInFlight: 100}, Node{Name: "in", Source: src},
		Node{Name: "made", Inputs: []string{"in"}, Transform: uneven},
		Node{Name: "out", Inputs: []string{"made"}, Sink: out})
	r := mustRun(t, p)
	equal(t, "delivered", out.got(), want)
	equal(t, "dead letters", keeper.bodies("made_dead"), dead)
	src.once(t, 1000)
	if r.Delivered != 900 || r.DeadLettered != 100 {
		t.Errorf("%+v", r)
	}
	for _, n := range r.Nodes {
		if n.Name == "in" && (n.In != 1000 || n.Delivered != 1000) || n.Name == "made" &&
			(n.In != 1000 || int(n.Out) != len(want)) || n.Name == "out" && int(n.In) != len(want) {
			t.Errorf("counted %+v", n)
		}
	}
}

func TestASlabForSeveralStepsIsEachStepsOwn(t *testing.T) {
	src := feedOf(numbers(200)...)
	src.slab = 50
	a, b := &answer{limits: component.SinkLimits{Concurrency: 1}}, &answer{limits: component.SinkLimits{Concurrency: 1}}
	p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: src},
		Node{Name: "a", Inputs: []string{"in"}, Sink: a}, Node{Name: "b", Inputs: []string{"in"}, Sink: b})
	mustRun(t, p)
	equal(t, "a", a.got(), numbers(200))
	equal(t, "b", b.got(), numbers(200))
	src.once(t, 200)
}

func TestASlabIsHeldUpWhereThePipelineIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := feedOf(numbers(1000)...)
		src.slab = 64
		hung := &answer{send: func(ctx context.Context, _ []*message.Message) ([]component.Outcome, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		p := mustNew(t, &keeper{}, Options{MaxInFlight: 50},
			Node{Name: "in", Source: src}, Node{Name: "pass", Inputs: []string{"in"}, Transform: slabwise{same}},
			Node{Name: "out", Inputs: []string{"pass"}, Sink: hung,
				Settings: Settings{Request: Request{Timeout: time.Hour}}})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := p.Run(ctx)
			ended <- err
		}()
		synctest.Wait()
		if s := p.Stats(); s[0].In != 50 || s[0].InFlight != 50 {
			t.Errorf("%d messages were let in, want 50; %d in flight", s[0].In, s[0].InFlight)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		src.once(t, 50) // those that were let in; the others were refused
		if !errors.Is(src.sendErr, ErrStopping) && !errors.Is(src.sendErr, context.Canceled) {
			t.Errorf("the rest: %v", src.sendErr)
		}
	})
}

func TestAMessageOfASlabLacksNothingAtTheFarEnd(t *testing.T) {
	src := feedOf(numbers(64)...)
	src.slab = 64
	for i := range src.deliveries {
		src.deliveries[i].Message.ID = message.ID{}
	}
	out := &answer{limits: component.SinkLimits{Concurrency: 1}}
	p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: src},
		Node{Name: "pass", Inputs: []string{"in"}, Transform: slabwise{same}},
		Node{Name: "out", Inputs: []string{"pass"}, Sink: out})
	mustRun(t, p)
	seen := map[message.ID]bool{}
	for _, m := range out.messages {
		if m.ID.IsZero() || seen[m.ID] || m.Hops[message.Accepted] == 0 ||
			m.Hops[message.Transformed] < m.Hops[message.Accepted] {
			t.Fatalf("%s: id %s, hops %v", m.Body, m.ID, m.Hops)
		}
		seen[m.ID] = true
	}
	if len(seen) != 64 {
		t.Errorf("%d messages came", len(seen))
	}
}

// slabOnce is a source of one slab, which it forgets.
type slabOnce struct {
	n    int
	sent func(weak.Pointer[message.Message])
	back []string // bodies of what came back
}

func (s *slabOnce) Run(ctx context.Context, out component.Out) error {
	messages := make([]message.Message, s.n)
	for i := range messages {
		messages[i].Body = fmt.Append(nil, i)
	}
	sent := weak.Make(&messages[0])
	_, err := component.SendSlab(ctx, out, component.Slab{Messages: messages, Settle: s.settle})
	s.sent(sent)
	<-ctx.Done()
	return err
}

func (s *slabOnce) settle(i int, m *message.Message, o component.Outcome) {
	if o.Verdict == component.Retry {
		s.back = append(s.back, fmt.Sprintf("%d: %s", i, m.Body))
	}
}

func (s *slabOnce) Close() error { return nil }

func TestAMessageThatWaitsForItsRetryKeepsNothingElseOfItsSlab(t *testing.T) {
	for _, through := range []struct {
		name string
		t    component.Transform
	}{{"same", slabwise{same}},
		{"new", slabwise{change(func(_ context.Context, m *message.Message, emit component.Emit) error {
			emit("", upper(m))
			return nil
		})}}} {
		t.Run(through.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			slab := make(chan weak.Pointer[message.Message], 1)
			src := &slabOnce{n: component.SlabMessages, sent: func(w weak.Pointer[message.Message]) { slab <- w }}
			sent := make(chan struct{})
			left := src.n
			out := &answerOnce{send: each(func(body string) component.Outcome {
				if left--; left == 0 {
					close(sent)
				}
				if body == "7" {
					return component.Again(time.Hour, errDown)
				}
				return component.OK(time.Now())
			})}
			p := mustNew(t, &keeper{}, Options{StopGrace: time.Millisecond}, Node{Name: "in", Source: src},
				Node{Name: "t", Inputs: []string{"in"}, Transform: through.t},
				Node{Name: "out", Inputs: []string{"t"}, Sink: out,
					Settings: Settings{Request: Request{Concurrency: 1}}})
			ended := make(chan error, 1)
			go func() {
				_, err := p.Run(ctx)
				ended <- err
			}()
			first := <-slab
			<-sent
			for first.Value() != nil { // the others of the group are settled soon
				runtime.GC()
			}
			if s := p.Stats(); s[2].Sleeping != 1 || s[0].InFlight != 1 {
				t.Errorf("%d wait for their retry, %d are in flight", s[2].Sleeping, s[0].InFlight)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if !slices.Equal(src.back, []string{"7: 7"}) {
				t.Errorf("%q came back", src.back)
			}
		})
	}
}

// answerOnce is a sink that remembers nothing.
type answerOnce struct {
	send func(ctx context.Context, batch []*message.Message) ([]component.Outcome, error)
}

func (a *answerOnce) Send(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
	return a.send(ctx, batch)
}

func (a *answerOnce) Close() error { return nil }

func TestASinkThatWantsLargerBatchesGetsThemWhereNothingIsConfigured(t *testing.T) {
	for configured, want := range map[int]int{0: 3000, 10: 10} {
		src, out := feedOf(numbers(9000)...), &answer{limits: component.SinkLimits{DefaultEvents: 3000, Concurrency: 1}}
		src.slab = 64
		gate := make(chan struct{})
		out.send = func(_ context.Context, batch []*message.Message) ([]component.Outcome, error) {
			<-gate
			return make([]component.Outcome, len(batch)), nil
		}
		src.began = func() { close(gate) }
		p := mustNew(t, &keeper{}, Options{}, Node{Name: "in", Source: src},
			Node{Name: "out", Inputs: []string{"in"}, Sink: out,
				Settings: Settings{Batch: Batch{MaxEvents: configured}}})
		r := mustRun(t, p)
		if got := r.Nodes[1].LargestBatch; got != want {
			t.Errorf("with max_events %d the largest batch is %d, want %d", configured, got, want)
		}
	}
}

func TestTheBodiesOfASlabArePiecesThatNobodyOverwrites(t *testing.T) {
	var lines []string
	for i := range 300 {
		lines = append(lines, strings.Repeat("x", i%7)+fmt.Sprint(i))
	}
	src := feedOf(lines...)
	src.slab = 100
	out := &answer{limits: component.SinkLimits{Concurrency: 1, MaxEvents: 7}}
	p := mustNew(t, &keeper{}, Options{MaxInFlight: 30}, Node{Name: "in", Source: src},
		Node{Name: "up", Inputs: []string{"in"},
			Transform: slabwise{change(func(_ context.Context, m *message.Message, emit component.Emit) error {
				emit("", upper(m))
				return nil
			})}}, Node{Name: "out", Inputs: []string{"up"}, Sink: out})
	mustRun(t, p)
	for i, m := range out.messages { // long after they were sent
		if want := bytes.ToUpper([]byte(lines[i])); !bytes.Equal(m.Body, want) {
			t.Errorf("message %d is %s, not %s", i, m.Body, want)
		}
	}
}
