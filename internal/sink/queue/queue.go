// Package queue is a sink that puts messages into a queue, or publishes them to a topic, of this process's store.
//
//	sinks:
//	  next: { type: queue, inputs: [shape], queue: news }
//
// The name is a topic's if there is one of that name, else a queue's. A batch is one atomic group of the journal: all
// of it is durable, or none.
//
// Messages keep their id, key, attributes, times and origin: what comes from the same place of the same file is put
// once, however often it is sent. What they carried as dead letters or for a replay is theirs no more.
package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Config is the sink's settings.
type Config struct {
	// Queue is the queue or topic, as "name" or "namespace/name".
	Queue string `yaml:"queue"`
}

// ErrNoStore: there is no store to put into.
var ErrNoStore = errors.New("there is no store to put messages into")

// publisher is the part of a store that the sink needs.
type publisher interface {
	Publish(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error)
}

// Sink puts messages. It may be used by several goroutines at once.
type Sink struct {
	to    queue.Name
	store publisher
}

// New checks the settings.
func New(c Config, env component.Env) (component.Sink, error) {
	if c.Queue == "" {
		return nil, component.Setting("queue", errors.New("is missing: name the queue or topic to put into"))
	}
	name, err := queue.ParseName(c.Queue)
	if err != nil {
		return nil, component.Setting("queue", err)
	}
	s := &Sink{to: name}
	if env.Store != nil {
		s.store = env.Store
	}
	return s, nil
}

// Queue is the queue or topic that the sink puts into.
func (s *Sink) Queue() queue.Name { return s.to }

// maxMessages is the most a store takes in one change by default.
const maxMessages = 10_000

// Limits: a batch has to fit into one change of the store, and one put at a time keeps the messages' order; while it
// becomes durable, the next batch gathers.
func (s *Sink) Limits() component.SinkLimits {
	return component.SinkLimits{MaxEvents: maxMessages, Concurrency: 1}
}

// Start looks whether there is a store.
func (s *Sink) Start(context.Context) error {
	if s.store == nil {
		return ErrNoStore
	}
	return nil
}

// Send puts the batch. When one message makes the store refuse all of them, the answer is an error marked by
// component.RejectError, and the pipeline finds that one.
func (s *Sink) Send(ctx context.Context, batch []*message.Message) ([]component.Outcome, error) {
	msgs := make([]message.Message, len(batch))
	ways := journey.SendingsOf(ctx)
	for i, m := range batch {
		msgs[i] = *m
		msgs[i].Death, msgs[i].Only = nil, ""
		if ways != nil {
			ways[i].Keep(&msgs[i].Attributes)
		}
	}
	_, err := s.store.Publish(ctx, s.to, msgs)
	switch {
	case err == nil:
		return component.All(len(batch), component.OK(time.Now())), nil
	case errors.Is(err, queue.ErrMismatch), errors.Is(err, queue.ErrTooLarge):
		err = fmt.Errorf("queue %s: %w", s.to.Short(), err)
		if len(batch) == 1 {
			return []component.Outcome{component.Reject(err)}, nil
		}
		return nil, component.RejectError(err)
	}
	// full, no disk, nobody subscribes: no message is at fault
	again := component.Hold(0, fmt.Errorf("queue %s: %w", s.to.Short(), err))
	again.Slow = errors.Is(err, queue.ErrQueueFull)
	return component.All(len(batch), again), nil
}

// Close does nothing: the store is not the sink's.
func (s *Sink) Close() error { return nil }
