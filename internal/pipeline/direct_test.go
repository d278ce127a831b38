package pipeline

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// handSink answers what is sent by hand as the message's body says, and keeps what is to have no answer until it is
// closed.
type handSink struct {
	mu     sync.Mutex
	closed bool
	kept   []func(component.Answer)
}

func (s *handSink) Send(_ context.Context, batch []*message.Message) ([]component.Outcome, error) {
	return make([]component.Outcome, len(batch)), nil
}

func (s *handSink) Deliver(m *message.Message, deadline time.Time, done func(component.Outcome)) {
	s.DeliverDirect(m, deadline, func(a component.Answer) { done(a.Outcome) })
}

func (s *handSink) DeliverDirect(m *message.Message, _ time.Time, done func(component.Answer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		panic("it is closed")
	}
	if string(m.Body) == "keep" {
		s.kept = append(s.kept, done)
		return
	}
	done(component.Answer{Name: string(m.Body)})
}

func (s *handSink) Limits() component.SinkLimits { return component.SinkLimits{} }

func (s *handSink) Close() error {
	s.mu.Lock()
	s.closed = true
	kept := s.kept
	s.mu.Unlock()
	for _, done := range kept {
		done(component.Answer{Outcome: component.Again(0, errors.New("closed"))})
	}
	return nil
}

// stays is a source that brings nothing until it is stopped.
type stays struct{ begun chan struct{} }

func (s stays) Run(ctx context.Context, _ component.Out) error {
	close(s.begun)
	<-ctx.Done()
	return ctx.Err()
}

func (s stays) Close() error { return nil }

func TestMessagesAreSentByHandWhileTheSinkIsOpenAndNeverElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source, sink := stays{make(chan struct{})}, &handSink{}
		p, err := New([]Node{{Name: "none", Source: source}, {Name: "phones", Inputs: []string{"none"}, Sink: sink}},
			Options{Store: &keeper{}})
		if err != nil {
			t.Fatal(err)
		}
		push := func(sink string, bodies ...string) ([]component.Answer, error) {
			msgs := make([]*message.Message, len(bodies))
			for i, b := range bodies {
				msgs[i] = &message.Message{ID: message.NewID(), Body: []byte(b)}
			}
			return p.Push(t.Context(), sink, time.Now().Add(10*time.Second), msgs)
		}
		if _, err := push("phones", "a"); !errors.Is(err, ErrNotRunning) {
			t.Errorf("before the start: %v", err)
		}
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error)
		go func() {
			_, err := p.Run(ctx)
			over <- err
		}()
		<-source.begun
		if _, err := push("none", "a"); !errors.Is(err, ErrNoSink) {
			t.Errorf("to a source: %v", err)
		}
		got, err := push("phones", "a", "keep", "b")
		if err != nil || got[0].Name != "a" || got[2].Name != "b" || got[1].Verdict != component.Retry ||
			!errors.Is(got[1].Reason, component.ErrNoAnswer) {
			t.Errorf("%+v, %v", got, err)
		}
		waiting := make(chan []component.Answer)
		go func() {
			got, _ := push("phones", "keep")
			waiting <- got
		}()
		synctest.Wait()
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
		if got := <-waiting; got[0].Verdict != component.Retry || got[0].Reason.Error() != "closed" {
			t.Errorf("under way at the end: %+v", got)
		}
		if _, err := push("phones", "a"); !errors.Is(err, ErrNotRunning) {
			t.Errorf("after the end: %v", err)
		}
	})
}
