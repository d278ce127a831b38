package pipeline

import (
	"cmp"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/pace"
)

// Node is one component and its place in the graph. Exactly one of Source, Transform, Group, Stream and Sink is set; a
// node with one of the middle three is a transform.
type Node struct {
	Name string
	// Inputs are the names of the sources and transforms this node takes from: "name", or "name.port" for a transform
	// with named outputs (component.Ports). Sources have none.
	Inputs    []string
	Source    component.Source
	Transform component.Transform
	Group     component.GroupTransform
	Stream    component.StreamTransform
	Sink      component.Sink
	Settings  Settings
	// Workers is how many goroutines run a Transform or Stream; 0: 1. With more than one, messages may overtake each
	// other, and a component.SlabTransform works on one at a time. A Group says itself how many it wants.
	Workers int
	// Feeds are the queues ("name" or "namespace/name") a Sink writes into. With Options.Finite, sources that drain
	// them wait for this node's sources to end. Dead-letter queues need not be named.
	Feeds []string
	// Drains are the queues a Source takes from.
	Drains []string
}

// Settings are what the pipeline does for a transform or a sink. The zero value means the defaults that are named here.
type Settings struct {
	Batch   Batch   // sinks only
	Request Request // transforms: Timeout (of a Transform) and the Retry… fields only
	// DeadLetter is the queue for what this node gives up, "name" or "namespace/name"; "": the node's name with
	// "_dead".
	DeadLetter string
}

// Batch says how a sink's messages are grouped. The sink's own component.SinkLimits apply too. A component.AsyncSink
// takes messages one by one and without waiting for company: nothing of Batch concerns it.
type Batch struct {
	MaxEvents int // messages in one Send; 0: as the sink's limits say, or 1000
	MaxBytes  int // their sizes summed, for more than one message; 0: 10 MiB
	// Timeout is how long a batch that is not full waits for company, from its oldest message on. 0: it does not wait:
	// a batch leaves as soon as a request may, and is as large as what gathered meanwhile. Nothing waits once the
	// sources that lead here have ended, or when the pipeline is full and nothing else is under way.
	Timeout time.Duration
}

// Request says how a step's calls are made and repeated.
type Request struct {
	// Concurrency is how many Sends there are at once, or messages in flight at a component.AsyncSink. 0: adaptive,
	// found out from what the far end makes of them, unless the AsyncSink's limits name a number.
	Concurrency    int
	MaxConcurrency int // bound of an adaptive concurrency; 0: 200
	// of one Send, Deliver or Transform; 0: 60 s, or as the sink says (SinkLimits.DefaultTimeout)
	Timeout time.Duration
	// RetryAttempts is how often a message is tried again after its first try before it becomes a dead letter.
	// 0: 5. Unbounded and NoRetries are the exceptions.
	RetryAttempts int
	// A retry waits a random time between nothing and a bound, which begins with RetryInitial (0: 500 ms) and doubles
	// up to RetryMax (0: 30 s). Outcome.After, if longer, is kept to.
	RetryInitial, RetryMax time.Duration
	// RateNum is the most Sends (Delivers) that begin within any RateDuration (0: 1 s); they are spread evenly. 0: no
	// bound.
	RateNum      int
	RateDuration time.Duration
	// Pace, which goes before RateNum, is the rate at which Sends (Delivers) begin while there is something to send:
	// each at its moment, also after a day. Those that come after a time without any begin anew. Zero: none.
	Pace pace.Rate
}

// Values of Request.RetryAttempts.
const (
	Unbounded = -1 // try until it is delivered, rejected, or the pipeline stops
	NoRetries = -2 // one try only
)

// Defaults of Settings.
const (
	DefaultBatchEvents    = 1000
	DefaultBatchBytes     = 10 << 20
	DefaultMaxConcurrency = 200
	DefaultTimeout        = 60 * time.Second
	DefaultRetryAttempts  = 5
	DefaultRetryInitial   = 500 * time.Millisecond
	DefaultRetryMax       = 30 * time.Second
	DefaultRateDuration   = time.Second
)

// withDefaults fills in what was left out.
func (s Settings) withDefaults(node string, l component.SinkLimits) Settings {
	orInt := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	orDuration := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	s.Batch.MaxEvents = max(s.Batch.MaxEvents, 0)
	orInt(&s.Batch.MaxBytes, DefaultBatchBytes)
	s.Batch.Timeout = max(s.Batch.Timeout, 0)
	s.Request.Concurrency = max(s.Request.Concurrency, 0)
	orInt(&s.Request.MaxConcurrency, DefaultMaxConcurrency)
	orDuration(&s.Request.Timeout, cmp.Or(l.DefaultTimeout, DefaultTimeout))
	orDuration(&s.Request.RetryInitial, DefaultRetryInitial)
	orDuration(&s.Request.RetryMax, DefaultRetryMax)
	orDuration(&s.Request.RateDuration, DefaultRateDuration)
	if s.Request.RetryAttempts == 0 {
		s.Request.RetryAttempts = DefaultRetryAttempts
	}
	if s.DeadLetter == "" {
		s.DeadLetter = node + "_dead"
	}
	return s
}

// retries is the number of tries after the first; ok is false when there is no bound.
func (r Request) retries() (n int, ok bool) {
	switch {
	case r.RetryAttempts == Unbounded:
		return 0, false
	case r.RetryAttempts < 0:
		return 0, true
	}
	return r.RetryAttempts, true
}
