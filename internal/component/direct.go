package component

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// DirectSink is an AsyncSink through which somebody may push a message and hear what the far end said of it, outside of
// the graph: nothing is tried again, and nothing is a dead letter.
type DirectSink interface {
	AsyncSink
	// DeliverDirect is Deliver with an Answer.
	DeliverDirect(m *message.Message, deadline time.Time, done func(Answer))
}

// Answer is an Outcome with what the far end calls the message that it took: an apns-id, the name of an FCM message,
// the address of a Web Push message. "": it was not taken, or has no name.
type Answer struct {
	Outcome
	Name string
}

// SendDirect delivers messages and waits for their answers, which have the messages' order. deadline is that of each.
// begun is called when all are under way, before the wait. What has no answer when ctx ends is a Retry outcome.
func SendDirect(ctx context.Context, s DirectSink, msgs []*message.Message, deadline time.Time, begun func()) []Answer {
	var mu sync.Mutex
	answers := make([]Answer, len(msgs))
	came := make([]bool, len(msgs))
	left, all, over := len(msgs), make(chan struct{}), false
	if left == 0 {
		close(all)
	}
	for i, m := range msgs {
		s.DeliverDirect(m, deadline, func(a Answer) {
			mu.Lock()
			defer mu.Unlock()
			if over {
				return // given up
			}
			answers[i], came[i] = a, true
			if left--; left == 0 {
				close(all)
			}
		})
	}
	begun()
	select {
	case <-all:
	case <-ctx.Done():
	}
	mu.Lock()
	defer mu.Unlock()
	over = true
	for i := range answers {
		if !came[i] {
			answers[i].Outcome = Again(0, fmt.Errorf("%w: %w", ErrNoAnswer, context.Cause(ctx)))
		}
	}
	return answers
}
