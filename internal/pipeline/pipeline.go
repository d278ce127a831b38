package pipeline

import (
	"cmp"
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/batch"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/pace"
)

// Pipeline is a checked graph that can be run once. Its methods may be called from any goroutine.
type Pipeline struct {
	options Options
	graph   *graph
	budget  *budget
	leave   func() // takes it out of the budget, when nothing is in flight any more
	entries []*entry
	stages  []*stage // of transforms and sinks, then the graveyards

	started  atomic.Bool
	work     context.Context // of calls to components; ends when patience does
	stop     func()          // stops the sources; set by Run
	stopping chan struct{}   // closed when sources are to stop
	drained  chan struct{}   // closed when all sources have ended and everything is settled
	// goroutines are those of sources and stages.
	goroutines sync.WaitGroup

	delivered, buried, dropped, givenBack atomic.Uint64 // deliveries

	ahead     *batch.Grouper[ahead] // receipts; nil: there are none
	direct    gate
	mu        sync.Mutex
	undrained int            // entries
	broken    map[*node]bool // whose panic was logged
	failures  []error        // of nodes that could not go on
}

// New checks a graph and prepares to run it; it calls nothing of the components but Ports, Limits and Oversee, and
// starts nothing. The error is GraphErrors. New may be called without Options.Store to check only.
func New(nodes []Node, o Options) (*Pipeline, error) { return newPipeline(nodes, o, nil) }

// newPipeline is New for a pipeline that shares a budget with others. nil: it has one of its own.
func newPipeline(nodes []Node, o Options, shared *budget) (*Pipeline, error) {
	g, err := newGraph(nodes)
	if err != nil {
		return nil, err
	}
	g.oversee()
	p := &Pipeline{
		options: o.withDefaults(), graph: g,
		stopping: make(chan struct{}), drained: make(chan struct{}),
		broken: map[*node]bool{},
	}
	if o.MaxInFlight <= 0 {
		p.options.MaxInFlight = usualInFlight(nodes)
	}
	for _, n := range g.nodes {
		switch n.kind {
		case KindSource:
			n.entry = &entry{p: p, node: n, drained: make(chan struct{}), returned: make(chan struct{})}
			p.entries = append(p.entries, n.entry)
		case KindTransform:
			p.transformStage(n)
		case KindSink:
			p.sinkStage(n)
			n.receipts = p.receiptsOf(n)
		}
	}
	p.undrained = len(p.entries)
	p.graveyards()
	p.openAccounts(shared) // from now on it is pressed
	return p, nil
}

// usualInFlight is how many messages may be under way where nothing is configured: no fewer than the sinks to which
// large batches are worth much can have in their hands at once, as far as that is bounded, or their batches would never
// fill.
func usualInFlight(nodes []Node) int {
	sum := 0
	for _, n := range nodes {
		if l := limitsOf(n.Sink); l.DefaultEvents > 0 {
			sum += cmp.Or(n.Settings.Batch.MaxEvents, l.DefaultEvents) * cmp.Or(n.Settings.Request.Concurrency,
				l.Concurrency)
		}
	}
	return max(DefaultMaxInFlight, min(sum, mostMaxInFlight))
}

// Warnings are about what the graph does not use: outputs that nobody takes.
func (p *Pipeline) Warnings() []*GraphError { return p.graph.warnings }

func (p *Pipeline) stage(n *node, maxCount, maxBytes int, l limiter, work func(*node, *group) sample) {
	n.stage = &stage{
		p: p, node: n, limiter: l,
		work:     func(g *group) sample { return work(n, g) },
		maxCount: maxCount, maxBytes: maxBytes,
		delay: n.Settings.Batch.Timeout,
		roomN: p.options.MaxInFlight, roomB: p.options.MaxInFlightBytes,
		pacer: newPacer(n.Settings.Request),
	}
	p.stages = append(p.stages, n.stage)
}

// openAccounts shares the bounds out. A transform that streams has an account of its own: were it its source's, the
// messages that wait to be streamed could take all of it and wait for each other. With its own, one message may always
// go on.
func (p *Pipeline) openAccounts(shared *budget) {
	entries := slices.Clone(p.entries)
	for _, n := range p.graph.nodes {
		if n.Stream != nil {
			entries = append(entries, n.entry)
		}
	}
	if p.budget = shared; shared == nil {
		p.budget = newBudget(p.options.MaxInFlight, p.options.MaxInFlightBytes)
	}
	var accounts []*account
	accounts, p.leave = p.budget.open(len(entries), p.press)
	for i, e := range entries {
		e.account = accounts[i]
	}
}

// transformsAtOnce is how many messages a single worker takes from its stage at a time: few enough to hold up nobody,
// since they would wait for it anyway.
const transformsAtOnce = 64

func (p *Pipeline) transformStage(n *node) {
	n.Settings.Batch.Timeout, n.Settings.Request.RateNum, n.Settings.Request.Pace = 0, 0, pace.Rate{}
	most := p.options.MaxInFlightBytes
	slabs, _ := n.Transform.(component.SlabTransform)
	switch {
	case n.Group != nil:
		g := n.Group.Grouping()
		n.together = n.Group.TransformGroup
		if g.Ordered && g.Concurrency > 1 {
			n.turns = &turns{}
		}
		p.stage(n, max(1, g.MaxEvents), most, fixed(max(1, g.Concurrency)), p.transformGroup)
		n.stage.turns = n.turns
	case n.Stream != nil:
		n.entry = &entry{p: p, node: n, drained: make(chan struct{}), returned: make(chan struct{})}
		p.stage(n, 1, most, fixed(n.Workers), p.stream)
	case n.Workers > 1:
		p.stage(n, 1, most, fixed(n.Workers), p.transform)
	case slabs != nil:
		n.together = slabs.TransformSlab
		p.stage(n, transformsAtOnce, most, fixed(1), p.transformGroup)
	default:
		p.stage(n, transformsAtOnce, most, fixed(1), p.transform)
	}
}

// limitsOf are a sink's own bounds; none when it has none, or is nil.
func limitsOf(s component.Sink) component.SinkLimits {
	if l, ok := s.(component.Limits); ok {
		return l.Limits()
	}
	return component.SinkLimits{}
}

func (p *Pipeline) sinkStage(n *node) {
	s := n.Settings
	maxCount, maxBytes := s.Batch.MaxEvents, s.Batch.MaxBytes
	concurrency, most := s.Request.Concurrency, s.Request.MaxConcurrency
	l := limitsOf(n.Sink)
	if maxCount == 0 {
		maxCount = cmp.Or(l.DefaultEvents, DefaultBatchEvents)
	}
	lower := func(have *int, bound int) {
		if bound > 0 {
			*have = min(*have, bound)
		}
	}
	lower(&maxCount, l.MaxEvents)
	lower(&maxBytes, l.MaxBytes)
	lower(&concurrency, l.Concurrency)
	lower(&most, l.Concurrency)
	inFlight := l.InFlight
	lower(&inFlight, l.Concurrency)
	async, _ := n.Sink.(component.AsyncSink)
	if async != nil && concurrency == 0 {
		concurrency = inFlight
	}
	var slots limiter
	switch {
	case concurrency > 0:
		slots = fixed(concurrency)
	case most == 1:
		slots = fixed(1)
	default:
		slots = newAdaptive(most)
	}
	if async != nil {
		n.Settings.Batch.Timeout = 0
	}
	p.stage(n, maxCount, maxBytes, slots, p.deliver)
	n.stage.sink = async
}

// graveyards makes a stage for each dead-letter queue.
func (p *Pipeline) graveyards() {
	yards := map[queue.Name]*node{}
	for _, n := range p.graph.nodes {
		if n.kind == KindSource {
			continue
		}
		yard := yards[n.deadQueue]
		if yard == nil {
			yard = &node{kind: KindSink, Node: Node{
				Name: n.deadQueue.Short(),
				Sink: graveyard{p.options.Store, n.deadQueue},
				Settings: Settings{
					Batch:   Batch{MaxEvents: DefaultBatchEvents},
					Request: Request{Concurrency: 1, RetryAttempts: Unbounded},
				}.withDefaults("", component.SinkLimits{}),
			}}
			yards[n.deadQueue] = yard
			p.sinkStage(yard)
		}
		n.graveyard = yard.stage
	}
}

// press lets batches leave that wait for company, because the pipeline is full.
func (p *Pipeline) press() {
	for _, s := range p.stages {
		s.press()
	}
}

// flushBelow lets batches leave that nothing more can join, now that a source has ended.
func (p *Pipeline) flushBelow(ended *entry) {
	for _, n := range p.graph.nodes {
		if n.stage == nil || !n.sources.has(ended.node.index) {
			continue
		}
		over := true
		for _, e := range p.entries {
			if n.sources.has(e.node.index) {
				e.mu.Lock()
				over = over && e.ended
				e.mu.Unlock()
			}
		}
		if over {
			n.stage.flush()
		}
	}
}

// drain notes that a source has ended and all of its messages are settled.
func (p *Pipeline) drain(e *entry) {
	close(e.drained)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.undrained--; p.undrained == 0 {
		close(p.drained)
	}
}

// recovered is deferred around calls to components: a panic becomes err. The stack is logged for a node's first one.
func (p *Pipeline) recovered(n *node, doing string, err *error) {
	v := recover()
	if v == nil {
		return
	}
	n.panics.Add(1)
	failure := &PanicError{Value: v, Stack: debug.Stack()}
	if err != nil {
		*err = failure
	}
	p.mu.Lock()
	again := p.broken[n]
	p.broken[n] = true
	p.mu.Unlock()
	if !again {
		p.options.Logger.Error("a component panicked", "component", n.Name, "doing", doing, "panic", v, "stack",
			string(failure.Stack))
	}
}

// observe tells the observer, whatever it does.
func (p *Pipeline) observe(m *message.Message, n *node, o component.Outcome) {
	defer p.recovered(n, "observe", nil)
	p.options.Observe.Message(m, n.Name, o)
}

// Stats tells what every node has done and is doing, in the order of the nodes.
func (p *Pipeline) Stats() []NodeStats {
	all := make([]NodeStats, 0, len(p.graph.nodes))
	for _, n := range p.graph.nodes {
		s := NodeStats{Name: n.Name, Kind: n.kind}
		n.snapshot(&s)
		if r := n.receipts; r != nil {
			s.HasReceipts, s.Receipts, s.ReceiptsDropped = true, r.put.Load(), r.dropped.Load()
		}
		if c, ok := n.component().(component.Counter); ok {
			s.Counts = c.Counts()
		}
		if n.stage != nil {
			s.DeadLetter = n.deadQueue.Short()
			n.stage.fill(&s)
		}
		if n.entry != nil {
			n.entry.mu.Lock()
			s.InFlight += n.entry.live
			n.entry.mu.Unlock()
		}
		all = append(all, s)
	}
	return all
}
