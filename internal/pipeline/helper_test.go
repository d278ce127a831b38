package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errDown = errors.New("the far end is down")

// text makes a message of a body.
func text(body string) *message.Message {
	return &message.Message{ID: message.NewID(), Body: []byte(body)}
}

// feed is a source that sends what it is given.
type feed struct {
	deliveries []component.Delivery
	stay       bool // Run goes on until it is stopped
	err        error
	slab       int    // how many are sent at once; 0: one by one
	began      func() // called when everything was sent

	mu      sync.Mutex
	settled map[string][]component.Outcome // by body
	closed  int
	sendErr error
}

// feedOf sends a message for each body.
func feedOf(bodies ...string) *feed {
	f := &feed{}
	for _, b := range bodies {
		f.deliveries = append(f.deliveries, component.Delivery{Message: text(b)})
	}
	return f
}

func numbers(n int) []string {
	bodies := make([]string, n)
	for i := range bodies {
		bodies[i] = fmt.Sprintf("m%04d", i)
	}
	return bodies
}

func (f *feed) settle(body string, o component.Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.settled == nil {
		f.settled = map[string][]component.Outcome{}
	}
	f.settled[body] = append(f.settled[body], o)
}

func (f *feed) send(ctx context.Context, out component.Out, ds []component.Delivery) error {
	if f.slab == 0 {
		ds[0].Settle = func(o component.Outcome) { f.settle(string(ds[0].Message.Body), o) }
		return out.Send(ctx, ds[0])
	}
	var slab component.Slab
	for _, d := range ds {
		slab.Messages = append(slab.Messages, *d.Message)
	}
	slab.Settle = func(i int, m *message.Message, o component.Outcome) {
		if was := ds[i].Message; string(m.Body) != string(was.Body) || m.Key != was.Key {
			panic(fmt.Sprintf("%s was settled as %s", was.Body, m.Body))
		}
		f.settle(string(m.Body), o)
	}
	taken, err := component.SendSlab(ctx, out, slab)
	if (err == nil) != (taken == len(ds)) {
		panic(fmt.Sprintf("%d of %d messages were taken: %v", taken, len(ds), err))
	}
	return err
}

func (f *feed) Run(ctx context.Context, out component.Out) error {
	for ds := range slices.Chunk(f.deliveries, max(1, f.slab)) {
		if err := f.send(ctx, out, ds); err != nil {
			f.mu.Lock()
			f.sendErr = err
			f.mu.Unlock()
			return err
		}
	}
	if f.began != nil {
		f.began()
	}
	if f.stay {
		<-ctx.Done()
		return ctx.Err()
	}
	return f.err
}

func (f *feed) Close() error { f.closed++; return nil }

// verdicts counts settlements.
func (f *feed) verdicts() (delivered, back int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, os := range f.settled {
		for _, o := range os {
			if o.Verdict == component.Delivered {
				delivered++
			} else {
				back++
			}
		}
	}
	return delivered, back
}

// once checks that every message that was taken is settled exactly once.
func (f *feed) once(t *testing.T, want int) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.settled) != want {
		t.Errorf("%d messages settled, want %d", len(f.settled), want)
	}
	for body, os := range f.settled {
		if len(os) != 1 {
			t.Errorf("%s settled %d times", body, len(os))
		}
	}
}

// change is a transform made of a function.
type change func(ctx context.Context, m *message.Message, emit component.Emit) error

func (c change) Transform(ctx context.Context, m *message.Message, emit component.Emit) error {
	return c(ctx, m, emit)
}

// same emits what it is given.
var same = change(func(_ context.Context, m *message.Message, emit component.Emit) error {
	emit("", m)
	return nil
})

// slabwise is a transform that takes several messages at once.
type slabwise struct{ change }

func (c slabwise) TransformSlab(ctx context.Context, ms []*message.Message, emit component.EmitFor) []error {
	errs := make([]error, len(ms))
	for i, m := range ms {
		errs[i] = c.change(ctx, m, func(port string, made *message.Message) { emit(i, port, made) })
	}
	return errs
}

// split is a transform with named outputs.
type split struct {
	change
	ports []string
}

func (s split) Ports() []string { return s.ports }

// answer is a sink made of a function; nil delivers everything. It remembers what was delivered.
type answer struct {
	send   func(ctx context.Context, batch []*message.Message) ([]component.Outcome, error)
	limits component.SinkLimits

	mu        sync.Mutex
	batches   [][]string // of what was sent, whatever came of it
	delivered []string
	messages  []message.Message
	closed    int
	under     int
	most      int
}

func (a *answer) Limits() component.SinkLimits { return a.limits }

func (a *answer) Send(ctx context.Context, batch []*message.Message) (os []component.Outcome, err error) {
	bodies := make([]string, len(batch))
	for i, m := range batch {
		bodies[i] = string(m.Body)
	}
	a.mu.Lock()
	a.batches = append(a.batches, bodies)
	a.under++
	a.most = max(a.most, a.under)
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.under--
		if len(os) != len(bodies) {
			return
		}
		for i, o := range os {
			if o.Verdict == component.Delivered {
				a.delivered = append(a.delivered, bodies[i])
				a.messages = append(a.messages, *batch[i])
			}
		}
	}()
	if a.send == nil {
		return make([]component.Outcome, len(batch)), nil
	}
	return a.send(ctx, batch)
}

func (a *answer) Close() error { a.closed++; return nil }

func (a *answer) got() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.delivered)
}

// each answers by message.
func each(f func(body string) component.Outcome) func(context.Context, []*message.Message) ([]component.Outcome,
	error) {
	return func(_ context.Context, batch []*message.Message) ([]component.Outcome, error) {
		os := make([]component.Outcome, len(batch))
		for i, m := range batch {
			os[i] = f(string(m.Body))
		}
		return os, nil
	}
}

// keeper is a store of dead letters.
type keeper struct {
	fail func(n queue.Name, msgs []message.Message) error

	mu     sync.Mutex
	queues map[string][]message.Message // by short name
	puts   int
}

func (k *keeper) Put(_ context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.puts++
	if k.fail != nil {
		if err := k.fail(n, msgs); err != nil {
			return nil, err
		}
	}
	if k.queues == nil {
		k.queues = map[string][]message.Message{}
	}
	k.queues[n.Short()] = append(k.queues[n.Short()], msgs...)
	return make([]queue.PutResult, len(msgs)), nil
}

// bodies lists what lies in a dead-letter queue, sorted.
func (k *keeper) bodies(name string) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []string
	for _, m := range k.queues[name] {
		all = append(all, string(m.Body))
	}
	slices.Sort(all)
	return all
}

// mustNew makes a pipeline that keeps its dead letters in k.
func mustNew(t *testing.T, k *keeper, o Options, nodes ...Node) *Pipeline {
	t.Helper()
	if o.Store == nil {
		o.Store = k
	}
	p, err := New(nodes, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// mustRun runs to the end.
func mustRun(t *testing.T, p *Pipeline) Result {
	t.Helper()
	r, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d %.300q\nwant %d %.300q", what, len(got), got, len(want), want)
	}
}

func upper(m *message.Message) *message.Message {
	c := m.Clone()
	c.Body = bytes.ToUpper(m.Body)
	return c
}

// caller is an asynchronous sink made of a function.
type caller struct {
	deliver func(m *message.Message, deadline time.Time, done func(component.Outcome))
	limits  component.SinkLimits
	closed  int
}

func (c *caller) Limits() component.SinkLimits { return c.limits }

func (c *caller) Deliver(m *message.Message, deadline time.Time, done func(component.Outcome)) {
	c.deliver(m, deadline, done)
}

func (c *caller) Send(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
	return component.SendAsync(ctx, c, batch)
}

func (c *caller) Close() error { c.closed++; return nil }
