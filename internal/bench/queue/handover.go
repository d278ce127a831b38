package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const workHandOver = "hand-over"

// hall is a queue at which readers wait: one for the number 0, and others, each for a number of its own that never
// comes.
type hall struct {
	rig    *harness.Rig
	others int
	leave  context.CancelFunc
	inside sync.WaitGroup
}

// patience is how long a reader waits: longer than any bench runs.
const patience = time.Hour

// openHall makes the queue and lets the others begin to wait.
func openHall(ctx context.Context, dir string, others int) (*hall, error) {
	columns, err := message.ParseColumns([]string{"n BIGINT", "body VARBINARY(1024)"})
	if err != nil {
		return nil, fmt.Errorf("columns of the measured queue: %w", err)
	}
	r, err := harness.NewRig(ctx, dir, queue.Definition{Columns: columns}, harness.Setting{})
	if err != nil {
		return nil, err
	}
	h := &hall{rig: r, others: others}
	ctx, h.leave = context.WithCancel(ctx)
	for i := range others {
		h.inside.Go(func() {
			// It ends with ctx; should it end otherwise, fewer wait than await wants to see.
			_, _ = h.claim(ctx, i+1)
		})
	}
	if err := h.await(ctx, others); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func (h *hall) claim(ctx context.Context, n int) ([]queue.Claim, error) {
	where, err := h.rig.Store.Parse(ctx, harness.Measured, fmt.Sprintf("n = %d", n))
	if err != nil {
		return nil, err
	}
	return h.rig.Store.Claim(ctx, queue.ClaimRequest{From: []queue.From{{Queue: harness.Measured, Where: where}},
		Wait: patience})
}

// await returns when so many wait.
func (h *hall) await(ctx context.Context, readers int) error {
	for {
		st, err := h.rig.Store.Stats(ctx, harness.Measured)
		if err != nil || st.Waiters == readers {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		runtime.Gosched()
	}
}

func (h *hall) Close() error {
	h.leave()
	h.inside.Wait()
	return h.rig.Remove()
}

// received is what a reader was handed, and when.
type received struct {
	claims []queue.Claim
	at     time.Time
	err    error
}

// Run hands over one message after the other. Its calls are the times from durable to received.
func (h *hall) Run(ctx context.Context, d time.Duration) (s harness.Sample, err error) {
	row := []message.Value{message.Int(0), message.Bytes(harness.MakeBody(harness.BodyBytes))}
	ctx, cancel := context.WithCancel(ctx)
	var reader sync.WaitGroup
	defer reader.Wait()
	defer cancel()
	began := time.Now()
	for s.Elapsed < d {
		got := make(chan received, 1)
		reader.Go(func() {
			claims, err := h.claim(ctx, 0)
			got <- received{claims, time.Now(), err}
		})
		if err := h.await(ctx, h.others+1); err != nil {
			return harness.Sample{}, err
		}
		if _, err := h.rig.Store.Put(ctx, harness.Measured, []message.Message{{Row: row}}); err != nil {
			return harness.Sample{}, fmt.Errorf("put: %w", err)
		}
		took, err := h.settle(ctx, <-got)
		if err != nil {
			return harness.Sample{}, err
		}
		s.N++
		s.Calls = append(s.Calls, took)
		s.Elapsed = time.Since(began)
	}
	return s, nil
}

// settle checks and settles what the reader was handed, and tells how long it was on its way.
func (h *hall) settle(ctx context.Context, r received) (time.Duration, error) {
	switch {
	case r.err != nil:
		return 0, fmt.Errorf("wait for a message: %w", r.err)
	case len(r.claims) != 1:
		return 0, fmt.Errorf("a waiting reader was handed %d messages for one", len(r.claims))
	}
	durable := r.claims[0].Message.Hops[message.Durable]
	if durable == 0 {
		return 0, errors.New("the message that a waiting reader was handed does not tell when it became durable")
	}
	results, err := h.rig.Store.Settle(ctx, []queue.Settlement{{Token: r.claims[0].Token, Kind: queue.Done}})
	if err := errors.Join(append(results, err)...); err != nil {
		return 0, fmt.Errorf("settle: %w", err)
	}
	return max(r.at.Sub(time.Unix(0, durable)), time.Nanosecond), nil
}

// handOver compares handing a message to a waiting reader among many others that wait with doing so where none does.
func (s *session) handOver(ctx context.Context) (err error) {
	var halls []*hall
	defer func() {
		for _, h := range halls {
			err = harness.JoinCleanup(err, h.Close())
		}
	}()
	for _, others := range []int{s.waiters, 0} {
		h, err := openHall(ctx, s.Temp, others)
		if err != nil {
			return err
		}
		halls = append(halls, h)
		if _, err := h.Run(ctx, s.warmUp); err != nil {
			return err
		}
	}
	c, err := s.Alternate(ctx, s.Step, harness.ByTime(0.5), halls[0], halls[1])
	if err != nil {
		return err
	}
	soon := harness.AtMost("p50_ms", 0.1)
	s.rows(c, about{
		work: workHandOver, writers: 1, waiters: s.waiters, goals: []harness.Goal{soon, harness.AtMost("ratio", 2)},
		peers: []peer{{name: harness.CasePeer, goals: []harness.Goal{soon}}},
	})
	return nil
}
