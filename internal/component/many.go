package component

import (
	"context"

	"github.com/hikyaku/hikyaku/internal/message"
)

// GroupTransform makes messages of several others at a time. It is for work that waits for something outside, such as a
// look-up: what gathers while one group is worked on makes up the next, and a lone message is a group of its own at
// once.
//
// TransformGroup calls emit, from the calling goroutine, for each message it makes, with the place in ms of the one it
// was made from. Its answer has an error for each of ms, or nil when none failed: what was emitted for one takes effect
// only if its error is nil, and the errors mean what those of Transform mean. It must not change what it is given, must
// return soon after ctx ends, may be called from several goroutines at once, and bounds its own waits: the pipeline
// does not.
type GroupTransform interface {
	Grouping() Grouping
	TransformGroup(ctx context.Context, ms []*message.Message, emit EmitFor) []error
}

// EmitFor takes what a GroupTransform makes of the i-th message.
type EmitFor func(i int, port string, m *message.Message)

// Grouping is what a GroupTransform asks for.
type Grouping struct {
	MaxEvents   int  // messages in a group; 0: 1
	Concurrency int  // groups at once; 0: 1
	Ordered     bool // what is made leaves in the order in which the messages came, but for those that are tried again
}

// StreamTransform makes so many messages of one that they cannot be held at once: it sends each as soon as it is made.
//
// Stream is like the Run of a source that lives for one message. It sends what it makes to out, which blocks while the
// pipeline is full, and is told what became of each delivery by its Settle, until long after Stream has returned. Each
// is a message in its own right: it is retried by itself, and the dead letter is the one that was sent, not the one it
// was made from.
//
// When Stream returns nil it has taken d over: it calls d.Settle once, when every delivery was settled, with Delivered
// if that is what all of them were, else with Retry. When it returns an error, d is still the pipeline's, which tries
// again or makes a dead letter of it as with a Transform; what was sent stays sent. Stream must not change d.Message,
// must return soon after ctx ends, and may be called from several goroutines at once, but never twice at once for the
// same delivery.
type StreamTransform interface {
	Stream(ctx context.Context, d Delivery, out Out) error
}
