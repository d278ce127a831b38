package pipeline

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	trace "github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Options are about a pipeline as a whole. Only Store is required, and only by Run.
type Options struct {
	Store DeadLetters
	// Clock tells the time for hops and deaths; nil: time.Now. Waiting is always done by the machine's clock.
	Clock func() time.Time
	// MaxInFlight and MaxInFlightBytes bound what is under way at once; 0: 10,000 messages, or up to 50,000 where sinks
	// can have more in their hands (SinkLimits.DefaultEvents), and 64 MiB. Half of each is shared out
	// among the sources and half is common, so that a source whose messages are stuck does not stop the others.
	// Every source may have one message under way, whatever its size. Each step holds as much at most, too.
	MaxInFlight      int
	MaxInFlightBytes int
	// Finite makes sources that are Finishers end when nothing more can come: for a run that ends by itself.
	Finite bool
	// Lasting tells which nodes cannot be stopped and started again: a Runner does not change what they are in. nil:
	// there are none.
	Lasting func(Node) bool
	// Slack is memory, in bytes, that the pipeline asks for while it runs and never touches, so that it costs addresses
	// and no pages. The collector of garbage waits until there is as much garbage as memory in use: what only moves
	// messages keeps little, and has it come many times a second. With Slack up to that much more garbage gathers, for
	// a fifth less processor time. It is for a process that does nothing else.
	Slack int
	// StopGrace is how long what is in flight may take after a stop; 0: 10 s. What is left then is given back.
	StopGrace time.Duration
	// Abandon, if set, is closed when nothing can be settled any more: a stop then waits for nothing that is in flight.
	Abandon <-chan struct{}
	Observe Observer     // nil: nobody
	Trace   *trace.Store // is told what far ends answered, and what was made of what; nil: nobody is
	Taps    *trace.Taps  // are told what comes to steps and leaves them, for those who watch; nil: nobody does
	// for stacks of panics, dead letters, and those that cannot be written; nil: slog.DiscardHandler
	Logger *slog.Logger
	// Rand returns numbers in [0, 1) for the jitter of retries; nil: math/rand. Its calls are serialised.
	Rand func() float64
}

// Defaults of Options.
const (
	DefaultMaxInFlight      = 10_000
	DefaultMaxInFlightBytes = 64 << 20
	DefaultStopGrace        = 10 * time.Second
)

// mostMaxInFlight bounds what is under way where nothing is configured.
const mostMaxInFlight = 50_000

// RunSlack is the Slack of a process that was started to run one pipeline.
const RunSlack = 64 << 20

// DeadLetters is where dead letters are kept; a queue.Service is one. Put returns when they are durable.
type DeadLetters interface {
	Put(ctx context.Context, n queue.Name, msgs []message.Message) ([]queue.PutResult, error)
}

// Observer is told what became of messages. Its methods are called from many goroutines and must be quick.
type Observer interface {
	// Message is called for each message and each step that was its end, when the delivery it was made from is settled.
	// m has its final hops. The verdict is Delivered; Dropped; Rejected for what became a dead letter; Retry for what
	// was given back. m must not be changed.
	Message(m *message.Message, node string, o component.Outcome)
}

// Finisher is met by sources that could go on for ever and are meant to end in a finite run: sources that drain a
// queue. Finish is called once, before Run, when Options.Finite is set. feeding is closed when every source of this
// pipeline that leads into the queues it drains (Node.Feeds, dead-letter queues) has ended and all of their messages
// are settled. The source's Run then returns as soon as nothing is left for it to take. Sources that feed each other in
// a circle do not wait for each other: they end when they find their queues empty.
type Finisher interface {
	Finish(feeding <-chan struct{})
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.MaxInFlightBytes <= 0 {
		o.MaxInFlightBytes = DefaultMaxInFlightBytes
	}
	if o.StopGrace <= 0 {
		o.StopGrace = DefaultStopGrace
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
		return o
	}
	var mu sync.Mutex
	given := o.Rand
	o.Rand = func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return given()
	}
	return o
}
