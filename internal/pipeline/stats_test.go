package pipeline

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

var _ DeadLetters = queue.Service(nil)

func TestStatsTellWhatEveryNodeIsDoing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := feedOf(numbers(10)...)
		src.stay = true
		out := &answer{send: func(_ context.Context, batch []*message.Message) ([]component.Outcome, error) {
			time.Sleep(time.Second)
			os := make([]component.Outcome, len(batch))
			for i, m := range batch {
				if string(m.Body) == "m0000" {
					os[i] = component.Again(time.Hour, errDown)
				}
			}
			return os, nil
		}}
		p := mustNew(t, &keeper{}, Options{},
			Node{Name: "in", Source: src}, step("pass", "in"),
			Node{Name: "out", Inputs: []string{"pass"}, Sink: out,
				Settings: Settings{Batch: Batch{MaxEvents: 4, Timeout: time.Minute}, Request: Request{Concurrency: 1},
					DeadLetter: "shop/graves"}})
		began := time.Now()
		at := map[time.Duration]string{}
		looked := make(chan struct{})
		go func() {
			defer close(looked)
			for range 4 {
				synctest.Wait()
				s := p.Stats()[2]
				at[time.Since(began)] = fmt.Sprintf(
					"in flight %d, busy %d of %d, waiting %d, sleeping %d, delivered %d", s.InFlight, s.Busy, s.Limit,
					s.Waiting, s.Sleeping, s.Delivered)
				time.Sleep(900 * time.Millisecond)
			}
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r, err := p.Run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		<-looked
		for when, want := range map[time.Duration]string{
			0:                       "in flight 10, busy 1 of 1, waiting 6, sleeping 0, delivered 0",
			1800 * time.Millisecond: "in flight 7, busy 1 of 1, waiting 2, sleeping 1, delivered 3",
		} {
			if at[when] != want {
				t.Errorf("at %v: %s\nwant %s", when, at[when], want)
			}
		}
		s := r.Nodes[2]
		if s.Requests < 3 || s.Sent != 10 || s.LargestBatch != 4 || s.Retries != 1 || s.GivenBack != 1 ||
			s.DeadLetter != "shop/graves" || s.LastError != errDown.Error() || s.Kind != KindSink {
			t.Errorf("%+v", s)
		}
	})
}

func TestATransformThatHangsIsEndedAndItsMessageIsADeadLetter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := change(func(ctx context.Context, m *message.Message, emit component.Emit) error {
			emit("", m)
			if string(m.Body) == "m0001" {
				<-ctx.Done()
			}
			return ctx.Err()
		})
		keeper, out := &keeper{}, &answer{}
		began := time.Now()
		p := mustNew(t, keeper, Options{}, Node{Name: "in", Source: feedOf(numbers(3)...)},
			Node{Name: "hang", Inputs: []string{"in"}, Transform: hang,
				Settings: Settings{Request: Request{Timeout: 5 * time.Second}}},
			Node{Name: "out", Inputs: []string{"hang"}, Sink: out})
		mustRun(t, p)
		equal(t, "delivered", out.got(), []string{"m0000", "m0002"})
		equal(t, "dead letters", keeper.bodies("hang_dead"), []string{"m0001"})
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("took %v", took)
		}
	})
}
