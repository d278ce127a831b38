package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
	queuesource "github.com/hikyaku/hikyaku/internal/source/queue"
)

// BenchmarkDurablePath is the price of a message's way from a durable queue through the pipeline to an asynchronous
// sink that costs nothing, and of its settlement: claim, deliver, settle. cpu-µs/op is what all threads together spend
// on it.
func BenchmarkDurablePath(b *testing.B) {
	for _, answer := range []string{"at once", "from another goroutine"} {
		b.Run(answer, func(b *testing.B) {
			j, err := file.Open(b.Context(), file.Options{Dir: b.TempDir(), Durability: journal.Fsync})
			if err != nil {
				b.Fatal(err)
			}
			store, err := queue.Open(b.Context(), queue.Options{Journal: j, OnDemand: true})
			if err != nil {
				b.Fatal(err)
			}
			defer func() {
				if err := errors.Join(store.Close(), j.Close()); err != nil {
					b.Error(err)
				}
			}()
			fillQueue(b, store, b.N)
			source, err := queuesource.New(queuesource.Config{Queue: "outbox"},
				component.Env{Name: "waiting", Store: store})
			if err != nil {
				b.Fatal(err)
			}
			var sink component.Sink = &null{}
			if answer != "at once" {
				sink = newEcho()
			}
			p, err := New([]Node{
				{Name: "waiting", Source: source, Drains: []string{"outbox"}},
				{Name: "phones", Inputs: []string{"waiting"}, Sink: sink,
					Settings: Settings{Request: Request{Concurrency: 2000}}},
			}, Options{Store: store, Finite: true})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			began := spent(b)
			r, err := p.Run(b.Context())
			if err != nil || r.Delivered != uint64(b.N) {
				b.Fatalf("%+v, %v", r, err)
			}
			b.ReportMetric(float64(spent(b)-began)/float64(b.N)/1000, "cpu-µs/op")
			b.StopTimer()
		})
	}
}

func fillQueue(b *testing.B, store *queue.Store, n int) {
	b.Helper()
	var attributes message.Attributes
	attributes.Set("platform", message.String("ios"))
	attributes.Set("token", message.String("00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"))
	for at := 0; at < n; at += 1000 {
		var some []message.Message
		for i := at; i < min(n, at+1000); i++ {
			some = append(some, message.Message{Attributes: attributes,
				Body: fmt.Appendf(nil,
					`{"user": %d, "aps": {"alert": {"title": "News", "body": "What happened today, in one line"}}}`,
					i)})
		}
		if _, err := store.Put(b.Context(), queue.Name{Namespace: "default", Name: "outbox"}, some); err != nil {
			b.Fatal(err)
		}
	}
}

// spent is the time that this process has had on all processors.
func spent(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// null answers at once.
type null struct{}

func (*null) Deliver(_ *message.Message, _ time.Time, done func(component.Outcome)) {
	done(component.Outcome{})
}
func (n *null) Send(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
	return component.SendAsync(ctx, n, batch)
}
func (*null) Close() error { return nil }

// echo answers from a goroutine of its own, as what reads from a connection does.
type echo struct {
	dones chan func(component.Outcome)
	ended sync.WaitGroup
}

func newEcho() *echo {
	e := &echo{dones: make(chan func(component.Outcome), 10_000)}
	e.ended.Go(func() {
		for done := range e.dones {
			done(component.Outcome{})
		}
	})
	return e
}

func (e *echo) Deliver(_ *message.Message, _ time.Time, done func(component.Outcome)) {
	e.dones <- done
}
func (e *echo) Send(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
	return component.SendAsync(ctx, e, batch)
}

func (e *echo) Close() error {
	close(e.dones)
	e.ended.Wait()
	return nil
}
