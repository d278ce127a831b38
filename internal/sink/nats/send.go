package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hikyaku/hikyaku/internal/component"
)

// sendKept publishes messages to streams and waits until these have kept them. A nil message has its outcome already.
func (s *Sink) sendKept(ctx context.Context, msgs []*nats.Msg, out []component.Outcome) {
	acks := make([]jetstream.PubAckFuture, len(msgs))
	sent := make([]time.Time, len(msgs))
	for i, m := range msgs {
		if m == nil {
			continue
		}
		var err error
		if acks[i], err = s.stream.PublishMsgAsync(m); err != nil {
			out[i] = s.judge(m, err)
		}
		sent[i] = time.Now()
	}
	for i, a := range acks {
		if a == nil {
			continue
		}
		select {
		case <-a.Ok():
			out[i] = component.OK(sent[i])
		case err := <-a.Err():
			out[i] = s.judge(msgs[i], err)
		case <-ctx.Done():
			// The stream may have it: its id keeps it from being there twice.
			out[i] = component.Again(0, s.failed(msgs[i], fmt.Errorf("no stream has acknowledged it: %w",
				errors.Join(component.ErrNoAnswer, s.conn.LastError()))))
		}
	}
}

// sendCore publishes messages and waits until the server has taken them. It tells of what it does not allow before it
// answers the wait, but of the client only the last of it can be learned: messages of one subject are waited for
// together.
func (s *Sink) sendCore(ctx context.Context, msgs []*nats.Msg, out []component.Outcome) {
	from := 0
	for i, m := range msgs {
		if m == nil {
			continue
		}
		if i > from && msgs[from] != nil && msgs[from].Subject != m.Subject {
			s.sendRun(ctx, msgs[from:i], out[from:i])
		}
		if msgs[from] == nil || msgs[from].Subject != m.Subject {
			from = i
		}
	}
	s.sendRun(ctx, msgs[from:], out[from:])
}

// sendRun publishes messages of one subject, and waits.
func (s *Sink) sendRun(ctx context.Context, msgs []*nats.Msg, out []component.Outcome) {
	before := s.conn.LastError()
	for i, m := range msgs {
		if m == nil {
			continue
		}
		if err := s.conn.PublishMsg(m); err != nil {
			out[i], msgs[i] = s.judge(m, err), nil
		}
	}
	err := s.conn.FlushWithContext(ctx)
	now, last := time.Now(), s.conn.LastError()
	for i, m := range msgs {
		switch {
		case m == nil:
		case err != nil:
			out[i] = component.Again(0, s.failed(m, errors.Join(component.ErrMayDouble, err)))
		case last != before && errors.Is(last, nats.ErrPermissionViolation):
			out[i] = component.Reject(last)
		default:
			out[i] = component.OK(now)
		}
	}
}

// judge says what becomes of a message that could not be published.
func (s *Sink) judge(m *nats.Msg, err error) component.Outcome {
	reason := s.failed(m, err)
	var answer jetstream.JetStreamError
	switch {
	case errors.Is(err, nats.ErrMaxPayload):
		return component.Reject(fmt.Errorf("%w: the server takes at most %d bytes", reason, s.conn.MaxPayload()))
	case errors.Is(err, nats.ErrBadSubject):
		return component.Reject(reason)
	case errors.Is(err, nats.ErrDisconnected), errors.Is(err, nats.ErrReconnectBufExceeded),
		errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrConnectionReconnecting):
		return component.Hold(rest, reason) // nobody has answered: it is not the message's fault
	case errors.Is(err, jetstream.ErrNoStreamResponse):
		return component.Again(0, fmt.Errorf("%w: make a stream that has the subject, or set mode: core", reason))
	case errors.As(err, &answer) && answer.APIError() != nil:
		switch code := answer.APIError().ErrorCode; {
		case code == tooLargeForStream, code == sealed:
			return component.Reject(reason)
		}
		o := component.Again(0, reason)
		o.Slow = answer.APIError().Code == 503 || answer.APIError().Code == 429
		return o
	}
	return component.Again(0, reason)
}

// failed names the subject.
func (s *Sink) failed(m *nats.Msg, err error) error {
	return fmt.Errorf("publish to %s: %w", m.Subject, err)
}
