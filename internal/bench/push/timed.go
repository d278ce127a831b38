package push

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// timedSink notes when each push was answered.
type timedSink struct {
	component.AsyncSink

	mu     sync.Mutex
	first  int64   // when the first message was claimed, in nanoseconds since 1970; 0: none was yet
	times  []int64 // when each user's push was answered, likewise; 0: not yet
	own    []int64 // when the message of each user was claimed, likewise
	left   int
	failed int
	done   chan struct{}
}

// begin expects n users, from 1, and returns what is closed when all have been answered.
func (s *timedSink) begin(n int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first, s.times, s.own, s.left, s.failed, s.done = 0, make([]int64, n), make([]int64, n), n, 0, make(chan struct{})
	return s.done
}

// since counts the times from an instant, in place of the first claim.
func (s *timedSink) since(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first = at.UnixNano()
}

// end returns, for the users in their order, the microseconds from the first claim of all to the answer, and how many
// were given up.
func (s *timedSink) end() ([]int64, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	took := make([]int64, len(s.times))
	for i, at := range s.times {
		took[i] = max(0, at-s.first) / int64(time.Microsecond)
	}
	return took, s.failed
}

// ended returns, for the users in their order, the microseconds from the claim of each one's own message to the answer.
func (s *timedSink) ended() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	took := make([]int64, len(s.times))
	for i, at := range s.times {
		took[i] = max(0, at-s.own[i]) / int64(time.Microsecond)
	}
	return took
}

// claimed notes when a user's message was dequeued.
func (s *timedSink) claimed(user int, at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if user > 0 && user <= len(s.own) && s.own[user-1] == 0 {
		s.own[user-1] = at
	}
	if at > 0 && (s.first == 0 || at < s.first) {
		s.first = at
	}
}

// Deliver implements component.AsyncSink.
func (s *timedSink) Deliver(m *message.Message, deadline time.Time, done func(component.Outcome)) {
	user := userOf(m)
	s.claimed(user, m.Hops[message.Claimed])
	s.AsyncSink.Deliver(m, deadline, func(o component.Outcome) {
		if o.Verdict != component.Retry {
			s.answered(user, o.Verdict == component.Delivered)
		}
		done(o)
	})
}

func (s *timedSink) answered(user int, delivered bool) {
	now := time.Now().UnixNano()
	s.mu.Lock()
	defer s.mu.Unlock()
	if user < 1 || user > len(s.times) || s.times[user-1] != 0 {
		return
	}
	s.times[user-1] = now
	if !delivered {
		s.failed++
	}
	if s.left--; s.left == 0 {
		close(s.done)
	}
}

// Send implements component.Sink.
func (s *timedSink) Send(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
	return component.SendAsync(ctx, s, batch)
}

// Start implements component.Starter for a sink that does.
func (s *timedSink) Start(ctx context.Context) error {
	if starter, ok := s.AsyncSink.(component.Starter); ok {
		return starter.Start(ctx)
	}
	return nil
}

// Limits implements component.Limits for a sink that does.
func (s *timedSink) Limits() component.SinkLimits {
	if limits, ok := s.AsyncSink.(component.Limits); ok {
		return limits.Limits()
	}
	return component.SinkLimits{}
}

// Receipts implements component.Receipted for a sink that does.
func (s *timedSink) Receipts() queue.Name {
	if r, ok := s.AsyncSink.(component.Receipted); ok {
		return r.Receipts()
	}
	return queue.Name{}
}

// userOf is the number of the user whose phone has the token of a message; 0 when there is none.
func userOf(m *message.Message) int {
	v, _ := m.Attributes.Get("token")
	token := v.Text()
	if len(token) != len(deviceToken(0)) {
		return 0
	}
	n, err := strconv.ParseUint(token[len(token)-16:], 16, 32)
	if err != nil {
		return 0
	}
	return int(n)
}

// settledCounter says when so many messages are settled, whatever became of them.
type settledCounter struct {
	mu   sync.Mutex
	left int
	done chan struct{}
}

func (c *settledCounter) begin(n int) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.done = n, make(chan struct{})
	return c.done
}

// Message implements pipeline.Observer.
func (c *settledCounter) Message(_ *message.Message, _ string, o component.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.Verdict == component.Retry || c.left == 0 {
		return // it comes again
	}
	if c.left--; c.left == 0 {
		close(c.done)
	}
}
