// Package twintest tells two services the same at random, and compares what they answer and what they have: whatever
// stands between a caller and a store has to do what the store does. It is for tests.
package twintest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// Twins are two services that are told the same.
type Twins struct {
	Tested queue.Service
	Plain  queue.Service // a store, which does it right
	// Quiet returns when Tested has nothing more to do by itself; nil: it never has.
	Quiet func()

	t      *testing.T
	owners [2]queue.Owner
	random *rand.Rand
	names  []queue.Name
	topics []queue.Name
	held   [][2]queue.Token // claims of the same message by both
	puts   int
	steps  []string
	differ string
}

// Run does as many random things to both, which are empty and make queues on demand. It fails the test, and logs what
// was done, when they differ.
func (w *Twins) Run(t *testing.T, seed uint64, steps int) {
	t.Helper()
	w.t, w.random = t, rand.New(rand.NewPCG(seed, 0))
	w.owners = [2]queue.Owner{w.Tested.NewOwner("twin"), w.Plain.NewOwner("twin")}
	for i := range 6 {
		w.names = append(w.names, queue.Name{Namespace: "app", Name: fmt.Sprint("q", i)})
	}
	w.names = append(w.names, queue.Name{Namespace: "app", Name: "q0_dead"}, queue.Name{Namespace: "b", Name: "q1"})
	w.topics = []queue.Name{{Namespace: "app", Name: "t0"}, {Namespace: "b", Name: "t1"}, w.names[2]}
	defer func() {
		if t.Failed() {
			t.Logf("seed %d:\n%s\n%s", seed, strings.Join(w.steps, "\n"), w.differ)
		}
	}()
	for range steps {
		w.step()
	}
	for _, o := range w.owners {
		o.Close()
	}
	w.compare()
}

func from(names ...queue.Name) (fs []queue.From) {
	for _, n := range names {
		fs = append(fs, queue.From{Queue: n})
	}
	return fs
}

func (w *Twins) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *Twins) any(of []queue.Name) queue.Name { return of[w.random.IntN(len(of))] }

// both does something to the two, and compares the errors.
func (w *Twins) both(what string, do func(s queue.Service, second bool) error) {
	w.t.Helper()
	a, b := do(w.Tested, false), do(w.Plain, true)
	w.steps = append(w.steps, fmt.Sprintf("%s: %v", what, b))
	for _, kind := range []error{queue.ErrNotFound, queue.ErrExists, queue.ErrDefinition, queue.ErrStale,
		queue.ErrSnapshot, queue.ErrMismatch, nil} {
		if errors.Is(a, kind) != errors.Is(b, kind) {
			w.t.Fatalf("%s: the one that is tested answers %v, a store %v", what, a, b)
		}
	}
}

func (w *Twins) step() {
	w.t.Helper()
	ctx := w.t.Context()
	n, other, topic := w.any(w.names), w.any(w.names), w.any(w.topics)
	w.puts++
	m := message.Message{ID: message.NewID(), Body: fmt.Append(nil, "m", w.puts)}
	if w.random.IntN(3) == 0 {
		m.Key = "k"
	}
	msgs := []message.Message{m}
	switch w.random.IntN(24) {
	case 0, 1, 2:
		w.both("put "+n.String(), func(s queue.Service, _ bool) error { _, err := s.Put(ctx, n, msgs); return err })
	case 3, 4:
		w.both("publish "+topic.String(), func(s queue.Service, _ bool) error {
			_, err := s.Publish(ctx, topic, msgs)
			return err
		})
	case 5:
		w.both("topic "+topic.String(), func(s queue.Service, _ bool) error {
			_, err := s.CreateTopic(ctx, topic, nil)
			return err
		})
	case 6:
		d := queue.Definition{MaxAttempts: 2}
		if w.random.IntN(2) == 0 {
			d.Topic = topic.String()
		}
		if w.random.IntN(3) == 0 {
			d.DeadLetter = w.any(append(w.names, w.topics...)).String()
		}
		w.both(fmt.Sprintf("create %v %+v", n, d), func(s queue.Service, _ bool) error {
			_, err := s.CreateQueue(ctx, n, d)
			return err
		})
	case 7:
		w.both("rename "+n.String()+" to "+other.String(), func(s queue.Service, _ bool) error {
			return s.RenameQueue(ctx, n, other)
		})
	case 8:
		w.both("delete "+n.String(), func(s queue.Service, _ bool) error { return s.DeleteQueue(ctx, n) })
	case 9:
		w.both("delete topic "+topic.String(), func(s queue.Service, _ bool) error { return s.DeleteTopic(ctx, topic) })
	case 10, 11:
		w.claim(n)
	case 12, 13:
		w.settle(queue.SettleKind(w.random.IntN(3)))
	case 14:
		w.forward(other, m)
	case 15:
		w.replay(n)
	case 16, 17:
		w.alter(n, topic)
	case 18:
		w.sought(n)
	case 19:
		w.removed(n)
	case 20:
		w.noted(n, topic, msgs)
	case 21:
		w.claimSeveral(n, other)
	case 22, 23:
		w.asked(n, topic)
	}
	w.compare()
}

// claim lets both take the oldest message of a queue.
func (w *Twins) claim(n queue.Name) {
	w.t.Helper()
	var got [2][]queue.Claim
	w.both("claim "+n.String(), func(s queue.Service, second bool) (err error) {
		i := 0
		if second {
			i = 1
		}
		got[i], err = s.Claim(w.t.Context(), queue.ClaimRequest{From: from(n)})
		return err
	})
	some := len(got[0]) > 0
	if some != (len(got[1]) > 0) || some && string(got[0][0].Message.Body) != string(got[1][0].Message.Body) {
		w.t.Fatalf("claims are %v and %v", got[0], got[1])
	} else if some {
		w.held = append(w.held, [2]queue.Token{got[0][0].Token, got[1][0].Token})
	}
}

func (w *Twins) takeHeld() (tokens [2]queue.Token, some bool) {
	if len(w.held) == 0 {
		return tokens, false
	}
	i := w.random.IntN(len(w.held))
	tokens = w.held[i]
	w.held = slices.Delete(w.held, i, i+1)
	return tokens, true
}

func (w *Twins) settle(kind queue.SettleKind) {
	w.t.Helper()
	if tokens, some := w.takeHeld(); some {
		w.both(fmt.Sprint("settle ", kind), func(s queue.Service, second bool) error {
			st := queue.Settlement{Token: tokens[0], Kind: kind}
			if second {
				st.Token = tokens[1]
			}
			errs, err := s.Settle(w.t.Context(), []queue.Settlement{st})
			return errors.Join(append(errs, err)...)
		})
	}
}

// forward settles a message and puts another one elsewhere, as one change.
func (w *Twins) forward(to queue.Name, m message.Message) {
	w.t.Helper()
	tokens, some := w.takeHeld()
	if !some {
		return
	}
	w.both("forward to "+to.String(), func(s queue.Service, second bool) error {
		st := queue.Settlement{Token: tokens[0]}
		if second {
			st.Token = tokens[1]
		}
		_, errs, err := s.Commit(w.t.Context(), queue.Change{Settles: []queue.Settlement{st},
			Puts: []queue.QueuePut{{To: to, Messages: []message.Message{m}}}})
		return errors.Join(append(errs, err)...)
	})
}

func (w *Twins) replay(n queue.Name) {
	w.t.Helper()
	w.both("replay "+n.String(), func(s queue.Service, _ bool) error {
		_, err := s.Replay(w.t.Context(), n, queue.ReplayRequest{})
		return err
	})
}

// compare waits until both have the same queues with the same messages in them: a store buries by itself, a moment
// later, what has had all its attempts.
func (w *Twins) compare() {
	w.t.Helper()
	if w.Quiet != nil {
		w.Quiet()
	}
	waittest.Until(w.t, "both have the same", func() bool {
		a, b := w.contents(w.Tested), w.contents(w.Plain)
		w.differ = ""
		if a != b {
			w.differ = fmt.Sprintf("the one that is tested has\n%s\na store\n%s", a, b)
		}
		return a == b
	})
}

// contents is what is in all queues.
func (w *Twins) contents(s queue.Service) string {
	w.t.Helper()
	names, err := s.Queues(w.t.Context())
	w.must(err)
	var all strings.Builder
	for _, n := range names {
		fmt.Fprintf(&all, "%v %q\n", n, w.content(s, n))
	}
	return all.String()
}

// content is what is in a queue, with how it is.
func (w *Twins) content(s queue.Service, n queue.Name) (all []string) {
	w.t.Helper()
	ps, err := s.Peek(w.t.Context(), n, queue.PeekRequest{Max: 1000})
	w.must(err)
	for i := range ps {
		m := &ps[i].Message
		text := fmt.Sprint(string(m.Body), " ", m.Key, " ", ps[i].State, " ", ps[i].Attempts, " ", m.ID)
		if m.Death != nil {
			text += " of " + m.Death.Queue
		}
		all = append(all, text)
	}
	st, err := s.Stats(w.t.Context(), n)
	w.must(err)
	d := st.Definition
	return append(all, fmt.Sprint(d.Topic, d.DeadLetter, d.MaxAttempts))
}
