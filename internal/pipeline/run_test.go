package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

func TestMessagesPassFromSourceToSinkAndAreSettled(t *testing.T) {
	src, out := feedOf("a", "b", "c"), &answer{}
	shape := change(func(_ context.Context, m *message.Message, emit component.Emit) error {
		emit("", upper(m))
		return nil
	})
	p := mustNew(t, &keeper{}, Options{},
		Node{Name: "in", Source: src},
		Node{Name: "shape", Inputs: []string{"in"}, Transform: shape},
		Node{Name: "out", Inputs: []string{"shape"}, Sink: out, Settings: Settings{Request: Request{Concurrency: 1}}},
	)
	r := mustRun(t, p)
	equal(t, "delivered", out.got(), []string{"A", "B", "C"})
	src.once(t, 3)
	if r.Delivered != 3 || r.DeadLettered != 0 || r.GivenBack != 0 {
		t.Errorf("result %+v", r)
	}
	if src.closed != 1 || out.closed != 1 {
		t.Errorf("closed: source %d times, sink %d times", src.closed, out.closed)
	}
	for _, n := range r.Nodes {
		if n.In != 3 || n.InFlight != 0 || n.Busy != 0 || n.Waiting != 0 {
			t.Errorf("%+v", n)
		}
	}
}

func TestOrderIsKeptWithOneRequestAtATime(t *testing.T) {
	bodies := numbers(5000)
	src, out := feedOf(bodies...), &answer{}
	p := mustNew(t, &keeper{}, Options{MaxInFlight: 100},
		Node{Name: "in", Source: src},
		Node{Name: "t1", Inputs: []string{"in"}, Transform: same},
		Node{Name: "t2", Inputs: []string{"t1"}, Transform: same},
		Node{Name: "out", Inputs: []string{"t2"}, Sink: out,
			Settings: Settings{Batch: Batch{MaxEvents: 7}, Request: Request{Concurrency: 1}}},
	)
	mustRun(t, p)
	equal(t, "delivered", out.got(), bodies)
}

func TestBatchLeavesWhenASlotIsFreeAndIsAsLargeAsWhatGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := feedOf(numbers(100)...)
		out := &answer{send: func(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
			time.Sleep(time.Second)
			return make([]component.Outcome, len(batch)), nil
		}}
		p := mustNew(t, &keeper{}, Options{},
			Node{Name: "in", Source: src},
			Node{Name: "out", Inputs: []string{"in"}, Sink: out,
				Settings: Settings{Batch: Batch{MaxEvents: 60}, Request: Request{Concurrency: 1}}},
		)
		began := time.Now()
		mustRun(t, p)
		// The first leaves alone or with those that were faster than its goroutine; the others go together.
		if n := len(out.batches); n > 3 || time.Since(began) > 3*time.Second {
			t.Errorf("%d batches in %v", n, time.Since(began))
		}
		for _, b := range out.batches {
			if len(b) > 60 {
				t.Errorf("a batch of %d", len(b))
			}
		}
	})
}

func TestBatchWithATimeoutWaitsForCompany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &answer{}
		began := time.Now()
		var left []time.Duration
		out.send = func(_ context.Context, batch []*message.Message) ([]component.Outcome, error) {
			left = append(left, time.Since(began))
			return make([]component.Outcome, len(batch)), nil
		}
		src := &trickle{every: 300 * time.Millisecond, bodies: numbers(13)}
		p := mustNew(t, &keeper{}, Options{},
			Node{Name: "in", Source: src},
			Node{Name: "out", Inputs: []string{"in"}, Sink: out,
				Settings: Settings{Batch: Batch{MaxEvents: 100, Timeout: time.Second},
					Request: Request{Concurrency: 1}}},
		)
		mustRun(t, p)
		// 0, 300, 600, 900 ms leave at 1 s; the next four began at 1.2 s; four more at 2.4 s; the last one leaves when
		// the source has ended, at 3.9 s.
		want := "[1s 2.2s 3.4s 3.9s]"
		if got := fmt.Sprint(left); got != want {
			t.Errorf("batches left at %s, want %s", got, want)
		}
	})
}

// trickle sends a message now and then.
type trickle struct {
	every  time.Duration
	bodies []string
}

func (s *trickle) Run(ctx context.Context, out component.Out) error {
	for _, b := range s.bodies {
		if err := out.Send(ctx, component.Delivery{Message: text(b)}); err != nil {
			return err
		}
		time.Sleep(s.every)
	}
	return nil
}

func (*trickle) Close() error { return nil }

func TestSinkLimitsBoundBatchesAndConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := feedOf(numbers(50)...)
		out := &answer{limits: component.SinkLimits{MaxEvents: 3, Concurrency: 1}}
		out.send = func(_ context.Context, batch []*message.Message) ([]component.Outcome, error) {
			time.Sleep(time.Millisecond)
			return make([]component.Outcome, len(batch)), nil
		}
		p := mustNew(t, &keeper{}, Options{},
			Node{Name: "in", Source: src},
			Node{Name: "out", Inputs: []string{"in"}, Sink: out, Settings: Settings{Request: Request{Concurrency: 9}}},
		)
		mustRun(t, p)
		if out.most != 1 {
			t.Errorf("%d requests at once, the sink allows 1", out.most)
		}
		for _, b := range out.batches {
			if len(b) > 3 {
				t.Errorf("a batch of %d, the sink allows 3", len(b))
			}
		}
	})
}

func TestBytesBoundABatchButALargeMessageGoesAlone(t *testing.T) {
	big := strings.Repeat("x", 100)
	src := feedOf("0123456789", "a123456789", "b123456789", big, "c123456789")
	out := &answer{}
	p := mustNew(t, &keeper{}, Options{},
		Node{Name: "in", Source: src},
		Node{Name: "out", Inputs: []string{"in"}, Sink: out, Settings: Settings{Batch: Batch{MaxBytes: 20}}},
	)
	mustRun(t, p)
	for _, b := range out.batches {
		if n := len(strings.Join(b, "")); n > 20 && len(b) > 1 {
			t.Errorf("a batch of %d bytes: %q", n, b)
		}
	}
	if got := out.got(); len(got) != 5 {
		t.Errorf("delivered %d of 5", len(got))
	}
}

func TestAFilterSettlesWhatItTakesOut(t *testing.T) {
	src, out := feedOf(numbers(10)...), &answer{}
	odd := change(func(_ context.Context, m *message.Message, emit component.Emit) error {
		if m.Body[4]%2 == 1 {
			emit("", m)
		}
		return nil
	})
	p := mustNew(t, &keeper{}, Options{},
		Node{Name: "in", Source: src},
		Node{Name: "odd", Inputs: []string{"in"}, Transform: odd},
		Node{Name: "out", Inputs: []string{"odd"}, Sink: out},
	)
	r := mustRun(t, p)
	src.once(t, 10)
	if r.Delivered != 10 || len(out.got()) != 5 {
		t.Errorf("result %+v, delivered %d", r, len(out.got()))
	}
}

func TestAMessageIsSettledWhenEverythingMadeOfItIsDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := feedOf("m")
		three := change(func(_ context.Context, m *message.Message, emit component.Emit) error {
			for i := range 3 {
				c := m.Clone()
				c.Body = fmt.Appendf(nil, "m%d", i)
				emit("", c)
			}
			return nil
		})
		slow := &answer{limits: component.SinkLimits{MaxEvents: 1}}
		slow.send = each(func(body string) component.Outcome {
			time.Sleep(time.Duration(body[1]-'0'+1) * time.Second)
			if n, back := src.verdicts(); n+back > 0 {
				t.Errorf("settled before %s was delivered", body)
			}
			return component.Outcome{}
		})
		p := mustNew(t, &keeper{}, Options{},
			Node{Name: "in", Source: src},
			Node{Name: "three", Inputs: []string{"in"}, Transform: three},
			Node{Name: "slow", Inputs: []string{"three"}, Sink: slow},
			Node{Name: "fast", Inputs: []string{"three", "in"}, Sink: &answer{}},
		)
		mustRun(t, p)
		src.once(t, 1)
	})
}

func TestPartsMadeFromOneMessageDifferAndAreTheSameNextTime(t *testing.T) {
	parts := func() []string {
		src := feedOf("m")
		src.deliveries[0].Message.Origin = message.Origin{Source: "file", Offset: 7, Mark: 3}
		twice := change(func(_ context.Context, m *message.Message, emit component.Emit) error {
			emit("", m)
			emit("", m)
			return nil
		})
		out := &answer{}
		p := mustNew(t, &keeper{}, Options{},
			Node{Name: "in", Source: src},
			Node{Name: "a", Inputs: []string{"in"}, Transform: twice},
			Node{Name: "b", Inputs: []string{"in", "a"}, Transform: twice},
			Node{Name: "out", Inputs: []string{"a", "b"}, Sink: out},
		)
		mustRun(t, p)
		var all []string
		for _, m := range out.messages {
			if m.Origin.Source != "file" || m.Origin.Offset != 7 || m.Origin.Mark != 3 {
				t.Errorf("origin %+v", m.Origin)
			}
			all = append(all, fmt.Sprint(m.Origin.Part))
		}
		slices.Sort(all)
		return all
	}
	first := parts()
	if len(first) != 8 || len(slices.Compact(slices.Clone(first))) != 8 {
		t.Fatalf("parts %v, want 8 different ones", first)
	}
	equal(t, "parts of a second run", parts(), first)
}

func TestHopsAreMarkedOnTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		src := &feed{deliveries: []component.Delivery{{Message: text("m"), Queue: "default/news", Attempt: 1}}}
		slow := change(func(_ context.Context, m *message.Message, emit component.Emit) error {
			time.Sleep(time.Second)
			emit("", &message.Message{Body: m.Body})
			return nil
		})
		out := &answer{send: each(func(string) component.Outcome {
			time.Sleep(time.Second)
			o := component.OK(time.Now())
			time.Sleep(time.Second)
			return o
		})}
		seen := &witness{}
		p := mustNew(t, &keeper{}, Options{Observe: seen},
			Node{Name: "in", Source: src},
			Node{Name: "slow", Inputs: []string{"in"}, Transform: slow},
			Node{Name: "out", Inputs: []string{"slow"}, Sink: out},
		)
		mustRun(t, p)
		if len(seen.hops) != 1 {
			t.Fatalf("observed %d messages", len(seen.hops))
		}
		want := map[message.Hop]time.Duration{message.Accepted: 0, message.Claimed: 0, message.Transformed: time.Second,
			message.Sent: 2 * time.Second, message.Settled: 3 * time.Second}
		for hop, at := range want {
			if got := time.Unix(0, seen.hops[0][hop]).Sub(began); got != at {
				t.Errorf("%v at %v, want %v", hop, got, at)
			}
		}
		if src.deliveries[0].Message.Hops != (message.Hops{}) {
			t.Error("the source's own message was changed")
		}
	})
}

// witness remembers what it observes; messages of one test are settled one at a time.
type witness struct {
	hops  []message.Hops
	lines []string
}

func (w *witness) Message(m *message.Message, node string, o component.Outcome) {
	w.hops = append(w.hops, m.Hops)
	w.lines = append(w.lines, fmt.Sprintf("%s %s %v", m.Body, node, o.Verdict))
}

func TestStartOrderAndWhatAFailedStartCloses(t *testing.T) {
	var log []string
	part := func(name string, err error) *opener { return &opener{name: name, err: err, log: &log} }
	a, b, c, d := part("source", nil), part("transform", nil), part("sink1", nil), part("sink2", nil)
	nodes := func() []Node {
		return []Node{
			{Name: "source", Source: a},
			{Name: "transform", Inputs: []string{"source"}, Transform: b},
			{Name: "sink1", Inputs: []string{"transform"}, Sink: c},
			{Name: "sink2", Inputs: []string{"transform"}, Sink: d},
		}
	}
	mustRun(t, mustNew(t, &keeper{}, Options{}, nodes()...))
	equal(t, "order", log, []string{
		"start sink1", "start sink2", "start transform", "start source",
		"close source", "close transform", "close sink1", "close sink2",
	})

	log = nil
	b.err = errDown
	_, err := mustNew(t, &keeper{}, Options{}, nodes()...).Run(t.Context())
	var node *NodeError
	if !errors.As(err, &node) || node.Node != "transform" || node.Doing != "start" || !errors.Is(err, errDown) {
		t.Errorf("error %v", err)
	}
	equal(t, "order", log, []string{"start sink1", "start sink2", "start transform", "close sink1", "close sink2"})
}

// opener is a component of any kind that tells when it is started and closed.
type opener struct {
	name string
	err  error
	log  *[]string
}

func (o *opener) Start(context.Context) error {
	*o.log = append(*o.log, "start "+o.name)
	return o.err
}
func (o *opener) Close() error {
	*o.log = append(*o.log,
		"close "+o.name)
	return nil
}
func (o *opener) Run(context.Context, component.Out) error                          { return nil }
func (o *opener) Transform(context.Context, *message.Message, component.Emit) error { return nil }
func (o *opener) Send(_ context.Context, b []*message.Message) ([]component.Outcome, error) {
	return make([]component.Outcome, len(b)), nil
}

func TestAPipelineRunsOnceAndNeedsAStore(t *testing.T) {
	nodes := []Node{{Name: "in", Source: feedOf()}, {Name: "out", Inputs: []string{"in"}, Sink: &answer{}}}
	p := mustNew(t, &keeper{}, Options{}, nodes...)
	mustRun(t, p)
	if _, err := p.Run(t.Context()); !errors.Is(err, ErrStarted) {
		t.Errorf("second run: %v", err)
	}
	p, err := New(nodes, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context()); !errors.Is(err, ErrNoStore) {
		t.Errorf("without a store: %v", err)
	}
}
