package function

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/deployment/event"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// publisher is the part of a store that the sink needs.
type publisher interface {
	Publish(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error)
}

// ErrNoFunctions: there is nothing that runs functions, or no store for answers.
var ErrNoFunctions = errors.New("there is nothing here that runs functions")

// longest is more than a start and an invocation may take, each of which has a time-out of its own.
const longest = 20 * time.Minute

// Limits: an event has at most 6 MiB, and shapes without a list of records have one message.
func (s *Sink) Limits() component.SinkLimits {
	l := component.SinkLimits{MaxEvents: 10_000, MaxBytes: event.MaxBytes, DefaultTimeout: longest}
	if s.shape.Lone() {
		l.MaxEvents = 1
	}
	return l
}

// Start looks whether there is something that runs functions.
func (s *Sink) Start(context.Context) error {
	if s.functions == nil || s.answers != (queue.Name{}) && s.store == nil {
		return ErrNoFunctions
	}
	return nil
}

// Close does nothing: functions and store are not the sink's.
func (s *Sink) Close() error { return nil }

// Send invokes the function once for the batch.
func (s *Sink) Send(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
	payload, err := event.Make(s.shape, event.Batch{Messages: batch, ARN: s.arn, Region: region})
	if err != nil {
		return s.refuse(len(batch), err)
	}
	in := function.Request{Function: s.name, Version: s.qualifier, Payload: payload}
	for _, way := range journey.SendingsOf(ctx) {
		if in.TraceID = way.XRay(); in.TraceID != "" {
			break // an invocation has one parent
		}
	}
	result, err := s.functions.Invoke(ctx, in)
	switch {
	case errors.Is(err, function.ErrThrottled):
		o := component.Again(0, err)
		o.Slow = true
		return component.All(len(batch), o), nil
	case errors.Is(err, function.ErrTooLarge):
		return s.refuse(len(batch), err)
	case errors.Is(err, function.ErrUnknown):
		return component.All(len(batch),
			component.Reject(fmt.Errorf("%w: deploy it, or define it under functions in the configuration", err))), nil
	case err != nil:
		return component.All(len(batch), component.Again(0, err)), nil
	case result.FunctionError != "":
		err := fmt.Errorf("function %s: %s; %s", s.name, reason(result), result.Advice)
		if s.bisect && len(batch) > 1 {
			return nil, component.RejectError(err)
		}
		return component.All(len(batch), component.Again(0, err)), nil
	}
	outcomes := component.All(len(batch), component.OK(time.Now()))
	if s.partial {
		failed, err := event.FailedRecords(s.shape, result.Payload, batch)
		if err != nil {
			return component.All(len(batch), component.Again(0, fmt.Errorf("function %s: %w", s.name, err))), nil
		}
		for i := range failed {
			outcomes[i] = component.Again(0, fmt.Errorf("function %s says that this message failed", s.name))
		}
	}
	if err := s.answer(ctx, batch, result); err != nil {
		return component.All(len(batch), component.Again(0, err)), nil
	}
	return outcomes, nil
}

// refuse is the answer to a batch that cannot become an event: perhaps one message is to blame.
func (s *Sink) refuse(n int, err error) ([]component.Outcome, error) {
	err = fmt.Errorf("function %s: %w", s.name, err)
	if n > 1 {
		return nil, component.RejectError(err)
	}
	return []component.Outcome{component.Reject(err)}, nil
}

// answer publishes what the function has answered, with the key of the message when it is the only one.
func (s *Sink) answer(ctx context.Context, batch []*message.Message, result *function.Result) error {
	if s.answers == (queue.Name{}) {
		return nil
	}
	m := message.Message{Body: result.Payload, Time: time.Now()}
	m.Attributes.Set("function", message.String(s.name))
	m.Attributes.Set("request_id", message.String(result.RequestID))
	if len(batch) == 1 {
		m.Key = batch[0].Key
		m.Attributes.Set("message_id", message.String(batch[0].ID.String()))
	}
	if _, err := s.store.Publish(ctx, s.answers, []message.Message{m}); err != nil {
		return fmt.Errorf("the answer of function %s, for queue %s: %w", s.name, s.answers.Short(), err)
	}
	return nil
}

// maxReason is how much of an error a dead letter tells.
const maxReason = 500

func reason(r *function.Result) string {
	return r.FunctionError + ": " + message.Shorten(string(r.Payload), maxReason)
}
