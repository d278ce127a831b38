// Package component holds the contracts that every source, transform and sink meets, and the outcomes that sinks answer
// with.
//
// A kind (a folder under source, transform or sink) implements one of the interfaces and describes its settings as a
// Config struct with yaml tags. Package pipeline runs components; package config makes them. A kind does one thing and
// leaves the rest to the pipeline: batching, concurrency, retries, time-outs, dead letters and hops are never a kind's
// business.
//
//	type upper struct{}
//
//	func (upper) Transform(_ context.Context, m *message.Message, emit component.Emit) error {
//		out := m.Clone()
//		out.Body = bytes.ToUpper(m.Body)
//		emit("", out)
//		return nil
//	}
package component

import (
	"context"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Source brings messages in.
//
// Run sends every message to out and returns nil when there will be no more of them, ctx's error when ctx ended, or
// what went wrong. It is called once. When Run returns, deliveries may still be under way: their Settle functions are
// called later, until Close.
type Source interface {
	Run(ctx context.Context, out Out) error
	// Close is called once, after Run has returned and every delivery is settled or given up.
	Close() error
}

// Out takes deliveries from a source. Send blocks while the pipeline is full, and returns ctx's error when ctx ended
// first: then the delivery was not taken and its Settle will not be called. Send may be called from several goroutines;
// deliveries from one goroutine enter the pipeline in their order.
type Out interface {
	Send(ctx context.Context, d Delivery) error
}

// Delivery is a message and the way to tell its source what became of it.
type Delivery struct {
	Message *message.Message
	// Settle is called once, from any goroutine, when everything made from the message is delivered or durably a dead
	// letter (Delivered), or when it has to be sent again (Retry: the pipeline is stopping, or could not keep a dead
	// letter). It must not block for long: work that waits belongs into a goroutine or batch of the source's.
	// A nil Settle is for sources that do not care.
	Settle func(Outcome)
	// Attempt is how often the message has been handed out, from 1; 0 when the source does not count.
	Attempt int
	// Receipts says that Settle takes receipts: it puts those of its Outcome (Receipt, and Next of each) into their
	// queues in the change that settles the message, or calls their Done with an error.
	Receipts bool
	// Queue is the queue it was claimed from, as namespace/name; "" when it comes from none.
	Queue string
	// Way tells apart the messages that were made from one and came different ways to the same StreamTransform. It is
	// the same each time that the message comes again, also as a replayed dead letter. Sources leave it 0.
	Way uint64
}

// Emit takes what a transform makes, which then belongs to the pipeline: it may be the message that the transform was
// given, but none that it keeps. port is "" but for transforms with several named outputs.
type Emit func(port string, m *message.Message)

// Transform makes any number of messages of one.
//
// It calls emit, from the calling goroutine, for each message it makes; none at all is a filter's way to drop one. What
// was emitted takes effect only when Transform returns nil: an error never lets half of a message through. A plain
// error rejects the message (it becomes a dead letter with the reason); one made by RetryError is tried again.
// Transform must not change m (use Clone). It may be called from several goroutines at once.
type Transform interface {
	Transform(ctx context.Context, m *message.Message, emit Emit) error
}

// Ports is met by transforms with named outputs. Other components name them as "component.port".
type Ports interface {
	Ports() []string
}

// Sink delivers messages.
//
// Send delivers a batch and answers for each message by itself: outcomes has the batch's length. A sink that can only
// answer for the batch as a whole returns a nil slice and an error: rejected by RejectError, the pipeline asks again by
// halves until the poison message stands alone; any other error is a retry of the whole batch. Send must not change the
// messages, must return soon after ctx ends, and may be called from several goroutines at once unless Limits says
// otherwise.
type Sink interface {
	Send(ctx context.Context, batch []*message.Message) ([]Outcome, error)
	// Close is called once, when no Send is under way: it flushes and lets go of what the sink holds.
	Close() error
}

// Starter is met by components with something to prepare before the first message: a connection, a file. An error stops
// the start of the whole pipeline.
type Starter interface {
	Start(ctx context.Context) error
}

// Parter is met by sources to which others hand messages that they will not hand over again. When the context of its
// Run ends, such a Run brings in what it has been handed and returns within Parts: until it has, or that time is over,
// its Out takes messages, by a context that does not end with Run's. Whoever stops a pipeline waits so long more.
type Parter interface {
	Parts() time.Duration
}

// Limits is met by sinks with bounds of their own, whatever is configured.
type Limits interface {
	Limits() SinkLimits
}

// Counter is met by components that count what only they can tell apart, such as the reasons of a far end. Counts
// returns totals since the start, by name; the map is the caller's.
type Counter interface {
	Counts() map[string]uint64
}

// Waiter is met by components that know why they cannot work now: the far end is away, wants a rest, or refuses us.
// Waits returns why; nil: nothing keeps it. It is called from any goroutine, about once a second, and must be quick.
// The pipeline tells the log.
type Waiter interface {
	Waits() error
}

// SinkLimits are the bounds of one sink.
type SinkLimits struct {
	MaxEvents int // messages in one Send; 0: as configured
	// DefaultEvents is how many messages there are in one Send at most where nothing is configured; 0: the pipeline's
	// default. It is for sinks to which a larger batch is worth much: it only fills while those before are on their
	// way.
	DefaultEvents int
	MaxBytes      int // bytes of their bodies in one Send; 0: as configured
	Concurrency   int // Sends (of an AsyncSink: messages) at once; 0: as configured. 1 for a sink that keeps an order
	// InFlight is, for an AsyncSink, how many messages are in flight at once where no concurrency is configured: for a
	// far end that says itself how much it takes, so that nothing has to be found out. 0: an adaptive number.
	InFlight int
	// DefaultTimeout is how long one Send may take where nothing is configured; 0: the pipeline's default. It is for
	// sinks that bound their own work, and whose work may rightly take longer.
	DefaultTimeout time.Duration
}
