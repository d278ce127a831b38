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

// called is a context of a call that may take a minute.
func called(work context.Context) *patience {
	return &patience{work: work, deadline: time.Now().Add(time.Minute)}
}

func TestACallIsWokenWhenItsTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := called(t.Context())
		defer c.end()
		began := time.Now()
		child, cancel := context.WithCancel(c)
		defer cancel()
		<-child.Done()
		if took := time.Since(began); took != time.Minute || !errors.Is(c.Err(), context.DeadlineExceeded) ||
			!errors.Is(context.Cause(child), context.DeadlineExceeded) {
			t.Fatalf("after %v: %v, %v", took, c.Err(), context.Cause(child))
		}
	})
}

func TestACallThatOnlyLooksSeesThatItsTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := called(t.Context())
		defer c.end()
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute - time.Nanosecond)
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Nanosecond)
		if err := c.Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	})
}

func TestACallEndsWithTheWork(t *testing.T) {
	work, stop := context.WithCancel(t.Context())
	looks, waits := called(work), called(work)
	defer looks.end()
	defer waits.end()
	done := waits.Done()
	stop()
	<-done
	if !errors.Is(looks.Err(), context.Canceled) || !errors.Is(waits.Err(), context.Canceled) {
		t.Fatal(looks.Err(), waits.Err())
	}
	<-looks.Done()
}

func TestAfterACallItsContextIsOver(t *testing.T) {
	asked, unasked := called(t.Context()), called(t.Context())
	done := asked.Done()
	asked.end()
	unasked.end()
	<-done
	<-unasked.Done()
	if !errors.Is(asked.Err(), context.Canceled) || !errors.Is(unasked.Err(), context.Canceled) {
		t.Fatal(asked.Err(), unasked.Err())
	}
}

func TestATransformHasItsTimeoutForEachMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = time.Second
		slow := change(func(ctx context.Context, m *message.Message, emit component.Emit) error {
			wait := 3 * timeout / 4 // two of them take longer than one may
			if string(m.Body) == "m0001" {
				wait = time.Hour
			}
			select {
			case <-time.After(wait):
				emit("", m)
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		src, sink, k := feedOf(numbers(4)...), &answer{}, &keeper{}
		p := mustNew(t, k, Options{},
			Node{Name: "in", Source: src},
			Node{Name: "slow", Inputs: []string{"in"}, Transform: slow,
				Settings: Settings{Request: Request{Timeout: timeout}}},
			Node{Name: "out", Inputs: []string{"slow"}, Sink: sink})
		mustRun(t, p)
		equal(t, "delivered", sink.got(), []string{"m0000", "m0002", "m0003"})
		equal(t, "dead", k.bodies("slow_dead"), []string{"m0001"})
	})
}
