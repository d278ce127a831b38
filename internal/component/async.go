package component

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// AsyncSink is a Sink whose far end answers each message by itself and in any order, such as one behind a multiplexed
// connection. The pipeline hands its messages to Deliver, one by one, and never calls Send: no goroutine waits for an
// answer, and no message waits for the answer of another. How many are in flight at once is the pipeline's business,
// like retries, pacing and dead letters.
//
// A kind that is an AsyncSink has this for the rest of Sink:
//
//	func (s *Sink) Send(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
//		return component.SendAsync(ctx, s, batch)
//	}
type AsyncSink interface {
	Sink
	// Deliver begins to deliver m and returns at once. It never blocks: neither on the network nor until there is room
	// on a connection. It may be called from several goroutines at once, between Start and Close. m must not be
	// changed.
	//
	// done is called exactly once for each Deliver, from any goroutine, possibly before Deliver returns, and by the
	// deadline or soon after it: an answer that has not come by then is a Retry outcome. What it takes is an Outcome as
	// Send's would be; one whose Reason is a Stopper stops the pipeline. done is quick and calls nothing of the sink.
	//
	// A pipeline that stops waits for what is in flight as long as its grace allows, then gives those messages back to
	// their source and calls Close, which abandons what is in flight: done may be called during Close, with any
	// outcome, and not after it has returned.
	Deliver(m *message.Message, deadline time.Time, done func(Outcome))
}

// sendPatience is how long SendAsync gives messages whose context has no deadline.
const sendPatience = time.Minute

// Deliverer is what SendAsync needs of an AsyncSink.
type Deliverer interface {
	Deliver(m *message.Message, deadline time.Time, done func(Outcome))
}

// SendAsync is the Send of an AsyncSink: it delivers a batch and waits for the answers. Those that have not come when
// ctx ends are Retry outcomes; what is told of them later is ignored.
func SendAsync(ctx context.Context, s Deliverer, batch []*message.Message) ([]Outcome, error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(sendPatience)
	}
	var mu sync.Mutex
	outcomes := make([]Outcome, len(batch))
	for i := range outcomes {
		outcomes[i] = Again(0, ErrNoAnswer)
	}
	left, all := len(batch), make(chan struct{})
	if left == 0 {
		return outcomes, nil
	}
	for i, m := range batch {
		s.Deliver(m, deadline, func(o Outcome) {
			mu.Lock()
			defer mu.Unlock()
			if left == 0 {
				return // given up
			}
			outcomes[i] = o
			if left--; left == 0 {
				close(all)
			}
		})
	}
	select {
	case <-all:
		return outcomes, nil
	case <-ctx.Done():
	}
	mu.Lock()
	defer mu.Unlock()
	if left == 0 {
		return outcomes, nil
	}
	left = 0
	for i := range outcomes {
		if outcomes[i].Reason == ErrNoAnswer {
			outcomes[i].Reason = fmt.Errorf("%w: %w", ErrNoAnswer, context.Cause(ctx))
		}
	}
	return outcomes, nil
}
