package pipeline

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// pipe is a queue in memory with a sink that puts and a source that drains.
type pipe struct {
	mu   sync.Mutex
	msgs []string
	more chan struct{}
}

func newPipe() *pipe { return &pipe{more: make(chan struct{}, 1)} }

func (q *pipe) put(body string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.msgs = append(q.msgs, body)
	select {
	case q.more <- struct{}{}:
	default:
	}
}

func (q *pipe) take() (string, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.msgs) == 0 {
		return "", false
	}
	body := q.msgs[0]
	q.msgs = q.msgs[1:]
	return body, true
}

func (q *pipe) sink() *answer {
	return &answer{send: each(func(body string) component.Outcome {
		time.Sleep(time.Second)
		q.put(body)
		return component.Outcome{}
	})}
}

// drain is a source that ends when nothing feeds it any more and its pipe is empty.
type drain struct {
	*pipe
	feeding <-chan struct{}
	ended   time.Duration
	fed     bool // Finish was called
}

func (s *drain) Finish(feeding <-chan struct{}) { s.feeding, s.fed = feeding, true }
func (s *drain) Close() error                   { return nil }
func (s *drain) Run(ctx context.Context, out component.Out) error {
	began := time.Now()
	defer func() { s.ended = time.Since(began) }()
	feeding := s.feeding
	for {
		for body, ok := s.take(); ok; body, ok = s.take() {
			if err := out.Send(ctx, component.Delivery{Message: text(body)}); err != nil {
				return err
			}
		}
		if feeding == nil && s.fed {
			return nil
		}
		select {
		case <-s.more:
		case <-feeding:
			feeding = nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func TestAFiniteRunEndsQueueByQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newPipe(), newPipe()
		q1, q2 := &drain{pipe: first}, &drain{pipe: second}
		out := &answer{}
		p := mustNew(t, &keeper{}, Options{Finite: true},
			Node{Name: "lines", Source: feedOf(numbers(10)...)},
			Node{Name: "to1", Inputs: []string{"lines"}, Sink: first.sink(), Feeds: []string{"one"}},
			Node{Name: "from1", Source: q1, Drains: []string{"default/one"}},
			Node{Name: "pass", Inputs: []string{"from1"}, Transform: same},
			Node{Name: "to2", Inputs: []string{"pass"}, Sink: second.sink(), Feeds: []string{"shop/two"}},
			Node{Name: "from2", Source: q2, Drains: []string{"shop/two"}},
			Node{Name: "out", Inputs: []string{"from2"}, Sink: out},
		)
		mustRun(t, p)
		equal(t, "delivered", slices.Sorted(slices.Values(out.got())), numbers(10))
		if q1.ended == 0 || q2.ended <= q1.ended {
			t.Errorf("the first queue's source ended after %v, the second's after %v", q1.ended, q2.ended)
		}
	})
}

func TestAQueueOfDeadLettersIsFedByTheNodesThatGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		graves := newPipe()
		keeper := &keeper{}
		out := &answer{}
		p := mustNew(t, keeper, Options{Finite: true, Store: putsInto{keeper, graves}},
			Node{Name: "lines", Source: feedOf(numbers(3)...)},
			Node{Name: "poor", Inputs: []string{"lines"}, Sink: &answer{send: each(func(string) component.Outcome {
				time.Sleep(time.Second)
				return component.Reject(errDown)
			})}},
			Node{Name: "graves", Source: &drain{pipe: graves}, Drains: []string{"poor_dead"}},
			Node{Name: "out", Inputs: []string{"graves"}, Sink: out},
		)
		mustRun(t, p)
		if n := len(out.got()); n != 3 {
			t.Errorf("%d of 3 dead letters came through", n)
		}
	})
}

func TestACircleOfQueuesEndsWhenItIsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		round := newPipe()
		q := &drain{pipe: round}
		var out []string
		again := change(func(_ context.Context, m *message.Message, emit component.Emit) error {
			if len(m.Body) < 8 {
				c := m.Clone()
				c.Body = append([]byte("+"), m.Body...)
				emit("", c)
			} else {
				out = append(out, string(m.Body))
			}
			return nil
		})
		p := mustNew(t, &keeper{}, Options{Finite: true},
			Node{Name: "lines", Source: &trickle{every: time.Minute, bodies: numbers(2)}},
			Node{Name: "enter", Inputs: []string{"lines"}, Sink: round.sink(), Feeds: []string{"round"}},
			Node{Name: "from", Source: q, Drains: []string{"round"}},
			Node{Name: "again", Inputs: []string{"from"}, Transform: again},
			Node{Name: "back", Inputs: []string{"again"}, Sink: round.sink(), Feeds: []string{"round"}},
		)
		mustRun(t, p) // ends at all: the source does not wait for itself
		if got := fmt.Sprint(out); got != "[+++m0000 +++m0001]" {
			t.Errorf("came round as %s", got)
		}
	})
}

func TestWithoutFiniteNobodyIsToldToFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &drain{pipe: newPipe()}
		p := mustNew(t, &keeper{}, Options{}, Node{Name: "from", Source: q, Drains: []string{"one"}},
			sink("out", "from"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := p.Run(ctx); err != nil {
			t.Error(err)
		}
		if q.fed || q.ended != time.Hour {
			t.Errorf("told %v, ended after %v", q.fed, q.ended)
		}
	})
}

// putsInto puts dead letters into a pipe, too.
type putsInto struct {
	*keeper
	pipe *pipe
}

func (k putsInto) Put(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error) {
	for _, m := range msgs {
		k.pipe.put(string(m.Body))
	}
	return k.keeper.Put(ctx, n, msgs)
}
