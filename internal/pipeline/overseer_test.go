package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

var errLater = errors.New("not now")

// warden gives back messages that begin with "later", stops some before the sink, and notes what it hears.
type warden struct {
	mu     sync.Mutex
	heard  []string
	told   []string // also when another is the first
	queues []string
}

func (w *warden) Transform(_ context.Context, m *message.Message, emit component.Emit) error {
	if strings.HasPrefix(string(m.Body), "later") {
		return component.BackError(7*time.Second, errLater)
	}
	emit("", m)
	return nil
}

func (w *warden) Oversee(queues []string) { w.queues = queues }

func (w *warden) Stops(m *message.Message) (component.Outcome, bool) {
	switch {
	case strings.HasPrefix(string(m.Body), "held"):
		return component.GiveBack(3*time.Second, errLater), true
	case strings.HasPrefix(string(m.Body), "gone"):
		return component.Drop(component.ErrCancelled), true
	}
	return component.Outcome{}, false
}

func (w *warden) Heard(m *message.Message, o *component.Outcome, first bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, string(m.Body))
	if !first {
		return
	}
	w.heard = append(w.heard, string(m.Body)+" "+o.Verdict.String())
}

// TestWhatIsGivenBackGoesToItsSourceUntried: a message that a transform gives back, or that one stops before the sink,
// is settled as one to be handed out later that was not tried, and is neither retried here nor a dead letter.
func TestWhatIsGivenBackGoesToItsSourceUntried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bodies := []string{"later", "held", "gone", "sent", "bad"}
		var mu sync.Mutex
		settled := map[string]component.Outcome{}
		var ds []component.Delivery
		for _, b := range bodies {
			ds = append(ds, component.Delivery{Message: text(b), Queue: "default/outbox",
				Settle: func(o component.Outcome) {
					mu.Lock()
					defer mu.Unlock()
					settled[b] = o
				}})
		}
		w, k := &warden{}, &keeper{}
		sink := &caller{deliver: func(m *message.Message, _ time.Time, done func(component.Outcome)) {
			if string(m.Body) == "bad" {
				done(component.Reject(errLater))
				return
			}
			done(component.OK(time.Now()))
		}}
		p := mustNew(t, k, Options{},
			Node{Name: "in", Source: deliveries(ds), Drains: []string{"outbox"}},
			Node{Name: "warden", Inputs: []string{"in"}, Transform: w},
			Node{Name: "out", Inputs: []string{"warden"}, Sink: sink})
		mustRun(t, p)
		slices.Sort(w.heard)
		equal(t, "heard", w.heard, []string{"bad rejected", "gone dropped", "sent delivered"})
		equal(t, "queues", w.queues, []string{"outbox"})
		for b, after := range map[string]time.Duration{"later": 7 * time.Second, "held": 3 * time.Second} {
			o := settled[b]
			if o.Verdict != component.Retry || !o.Held || !o.Back || o.After != after ||
				!errors.Is(o.Reason, errLater) {
				t.Errorf("%s: %+v", b, o)
			}
		}
		for _, b := range []string{"gone", "sent", "bad"} {
			if o := settled[b]; o.Verdict != component.Delivered {
				t.Errorf("%s: %+v", b, o)
			}
		}
	})
}

// deliveries is a source of these.
type deliveries []component.Delivery

func (ds deliveries) Run(ctx context.Context, out component.Out) error {
	for _, d := range ds {
		if err := out.Send(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func (deliveries) Close() error { return nil }

// TestWhatBecameOfAMessageIsToldOnceBelowTwoOverseers: one after the other, and one beside the other before one sink.
func TestWhatBecameOfAMessageIsToldOnceBelowTwoOverseers(t *testing.T) {
	for name, inputs := range map[string][2]string{"in a row": {"first", "second"},
		"side by side": {"in2", "first second"}} {
		synctest.Test(t, func(t *testing.T) {
			one := func(body string) deliveries {
				return deliveries{{Message: text(body), Settle: func(component.Outcome) {}}}
			}
			first, second := &warden{}, &warden{}
			sink := &caller{deliver: func(_ *message.Message, _ time.Time, done func(component.Outcome)) {
				done(component.OK(time.Now()))
			}}
			nodes := []Node{
				{Name: "in", Source: one("a")},
				{Name: "first", Inputs: []string{"in"}, Transform: first},
				{Name: "second", Inputs: []string{inputs[0]}, Transform: second},
				{Name: "out", Inputs: strings.Fields(inputs[1]), Sink: sink},
			}
			want := []string{"a delivered"}
			if inputs[0] == "in2" {
				nodes, want = append(nodes, Node{Name: "in2", Source: one("b")}), append(want, "b delivered")
			}
			mustRun(t, mustNew(t, &keeper{}, Options{}, nodes...))
			heard := append(first.heard, second.heard...)
			slices.Sort(heard)
			equal(t, name, heard, want)
			if len(first.told) != len(want) || len(second.told) != len(want) {
				t.Errorf("%s: told %v and %v", name, first.told, second.told)
			}
		})
	}
}
