package function

import (
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/deployment/event"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Config is the sink's settings.
type Config struct {
	// Function is the function's name, or name:version, or name:alias.
	Function string `yaml:"function"`
	// Event is what an event looks like: sqs, dynamodb (records), pubsub or raw (one message each).
	Event string `yaml:"event" oneof:"sqs dynamodb pubsub raw" default:"sqs"`
	// PartialFailures lets the function say which messages of a batch failed, by an answer {"batchItemFailures":
	// [{"itemIdentifier": ID}]}.
	PartialFailures bool `yaml:"partial_failures"`
	// Bisect tries a batch whose function fails again by halves, until the message that it fails for stands alone and
	// becomes a dead letter.
	Bisect bool `yaml:"bisect"`
	// Source is the name of the queue or table that events say they come from. Not set: the sink's own name.
	Source string `yaml:"source"`
	// Answers is the queue or topic that gets what the function answers, as "name" or "namespace/name".
	Answers string `yaml:"answers"`
}

// Sink gives messages to a function. It may be used by several goroutines at once.
type Sink struct {
	name, qualifier string
	shape           event.Shape
	partial, bisect bool
	arn             string
	answers         queue.Name // zero: none
	functions       component.Functions
	store           publisher
}

// New checks the settings.
func New(c Config, env component.Env) (component.Sink, error) {
	if c.Function == "" {
		return nil, component.Setting("function", errors.New("is missing: name the function that gets the messages"))
	}
	s := &Sink{shape: event.Shape(c.Event), partial: c.PartialFailures, bisect: c.Bisect, functions: env.Functions}
	if s.shape == "" {
		s.shape = event.ShapeSQS
	}
	var err error
	if s.name, s.qualifier, err = deployment.ParseName(c.Function); err != nil {
		return nil, component.Setting("function", err)
	}
	if c.PartialFailures && s.shape.Lone() {
		return nil, component.Setting("partial_failures",
			fmt.Errorf("an event of shape %s has one message: it fails or it does not", s.shape))
	}
	source := c.Source
	if source == "" {
		source = env.Name
	}
	switch s.shape {
	case event.ShapeDynamoDB:
		s.arn = "arn:aws:dynamodb:" + region + ":000000000000:table/" + source + "/stream/hikyaku"
	case event.ShapePubSub:
		s.arn = source
	default:
		s.arn = "arn:aws:sqs:" + region + ":000000000000:" + source
	}
	if c.Answers != "" {
		if s.answers, err = queue.ParseName(c.Answers); err != nil {
			return nil, component.Setting("answers", err)
		}
	}
	if env.Store != nil {
		s.store = env.Store
	}
	return s, nil
}

// region is the one in events.
const region = "us-east-1"
