package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// startTime bounds how long what a Change starts may take for it: what it replaces stands still meanwhile.
const startTime = 30 * time.Second

// Errors of Change.
var (
	// ErrFinite: a run that ends by itself is not changed on the way.
	ErrFinite = errors.New("a run that ends by itself cannot be changed")
	// ErrLasting: a component cannot be stopped and started again.
	ErrLasting = errors.New("it is part of what would be stopped, and cannot be started again: restart hikyaku")
	// ErrStartTime: what is new has not started in time.
	ErrStartTime = fmt.Errorf("its part of the pipeline has not started within %v", startTime)
)

// Runner runs the connected parts of a graph, each as a Pipeline of its own, so that one can be changed while the
// others go on. They share the bounds of what is in flight. A finite run is one part: its sources wait for each other
// across queues. The methods may be called from any goroutine.
type Runner struct {
	options Options
	budget  *budget
	failed  chan error // of a running part; only the first one is kept

	changing sync.Mutex      // held while pieces are started and stopped
	lifetime context.Context // that of Run; nil: it was not called
	begun    chan struct{}   // closed when Run has started the pieces

	mu     sync.RWMutex
	pieces []*piece // in the order of their first nodes
	over   Result   // of those that were replaced; without their Nodes
}

// piece is a connected part of a graph.
type piece struct {
	*Pipeline
	nodes []Node
	stop  context.CancelFunc
	ready chan struct{} // closed when its components have been started

	ended  chan struct{}
	result Result // like err, once ended is closed
	err    error
}

// NewRunner checks a graph and prepares to run it, as New does.
func NewRunner(nodes []Node, o Options) (*Runner, error) {
	g, err := newGraph(nodes)
	if err != nil {
		return nil, err
	}
	o = o.withDefaults()
	r := &Runner{options: o, budget: newBudget(inFlight(&o, nodes), o.MaxInFlightBytes), failed: make(chan error, 1),
		begun: make(chan struct{})}
	groups := g.connected()
	if o.Finite && len(nodes) > 0 {
		groups = [][]Node{nodes}
	}
	for _, group := range groups {
		r.pieces = append(r.pieces, r.piece(group))
	}
	return r, nil
}

// inFlight is how many messages may be under way.
func inFlight(o *Options, nodes []Node) int {
	if o.MaxInFlight > 0 {
		return o.MaxInFlight
	}
	return usualInFlight(nodes)
}

// piece prepares a part of a graph that was checked.
func (r *Runner) piece(nodes []Node) *piece {
	p, err := newPipeline(nodes, r.options, r.budget)
	if err != nil {
		panic(fmt.Sprintf("a part of a sound graph is not sound: %v", err))
	}
	return &piece{Pipeline: p, nodes: nodes, ready: make(chan struct{}), ended: make(chan struct{})}
}

// connected are the nodes that lead to each other in whatever direction, in their order.
func (g *graph) connected() [][]Node {
	of := make([]int, len(g.nodes)) // the first node that each is known to be connected with
	for i := range of {
		of[i] = i
	}
	first := func(i int) int {
		for of[i] != i {
			i = of[i]
		}
		return i
	}
	for _, n := range g.nodes {
		for _, from := range n.ins {
			a, b := first(n.index), first(from.index)
			of[max(a, b)] = min(a, b)
		}
	}
	var groups [][]Node
	at := map[int]int{}
	for i, n := range g.nodes {
		k, known := at[first(i)]
		if !known {
			k = len(groups)
			at[first(i)] = k
			groups = append(groups, nil)
		}
		groups[k] = append(groups[k], n.Node)
	}
	return groups
}

// Run runs the parts as Pipeline.Run runs one, until ctx ends, or until a part fails: then the others are stopped, too.
// No message moves before the components of all parts have been started. A finite run ends when its sources have. Run
// may be called once.
func (r *Runner) Run(ctx context.Context) (Result, error) {
	if r.options.Store == nil {
		return Result{}, ErrNoStore
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r.changing.Lock()
	if r.lifetime != nil {
		r.changing.Unlock()
		return Result{}, ErrStarted
	}
	r.lifetime = ctx
	err := r.start(r.pieces, nil)
	close(r.begun)
	r.changing.Unlock()
	if err == nil && !r.options.Finite {
		select {
		case <-ctx.Done():
		case <-r.failed:
		}
	}
	if !r.options.Finite {
		stop()
	}
	r.changing.Lock()
	defer r.changing.Unlock()
	var errs []error
	for _, c := range r.pieces {
		<-c.ended
		errs = append(errs, c.err)
	}
	return r.result(), errors.Join(errs...)
}

// start starts pieces, and lets their messages move when all have been started. After an error, which is one of theirs
// or says that it was late, all of them are stopped. The caller holds changing.
func (r *Runner) start(pieces []*piece, late <-chan time.Time) (err error) {
	move := make(chan struct{})
	for _, c := range pieces {
		var ctx context.Context
		ctx, c.stop = context.WithCancel(r.lifetime)
		go r.live(ctx, c, move) // whoever stops the piece waits for its end
	}
	for _, c := range pieces {
		select {
		case <-c.ready:
			continue
		case <-c.ended:
			err = c.err
		case <-late:
			err = &NodeError{c.nodes[0].Name, "start", ErrStartTime}
		}
		halt(pieces)
		return err
	}
	close(move)
	return nil
}

// live runs a piece until it has ended.
func (r *Runner) live(ctx context.Context, c *piece, move <-chan struct{}) {
	defer close(c.ended)
	defer c.stop()
	moves := false // who starts it is told of errors before
	c.result, c.err = c.run(ctx, func() error {
		close(c.ready)
		select {
		case <-move:
			moves = true
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	c.leave()
	if moves && c.err != nil && ctx.Err() == nil {
		select {
		case r.failed <- c.err:
		default:
		}
	}
}

// halt stops pieces and waits until they have ended.
func halt(pieces []*piece) {
	for _, c := range pieces {
		c.stop()
	}
	for _, c := range pieces {
		<-c.ended
	}
}

// Change is what became of the nodes of a graph that runs, each in the order of its graph.
type Change struct {
	Stopped []string // those that are there no more as they were
	Started []string // those that were not there as they are
}

// Change has another graph run, once Run has started the one before. Parts of it that are the same, as same says of
// each of their nodes, go on untouched. The others of before are stopped, as Run stops them, and then those that are
// new are started. What is wrong with the graph is found before anything is stopped (GraphErrors, ErrLasting). When a
// component does not start, none of the new parts runs (NodeError), and those of before are stopped nevertheless:
// another Change brings them back. The error of a part that is stopped goes to the log.
func (r *Runner) Change(nodes []Node, same func(name string) bool) (Change, error) {
	return r.change(nodes, same, false)
}

// Plan tells what Change would do, and why it could not.
func (r *Runner) Plan(nodes []Node, same func(name string) bool) (Change, error) {
	return r.change(nodes, same, true)
}

func (r *Runner) change(nodes []Node, same func(name string) bool, only bool) (c Change, err error) {
	g, err := newGraph(nodes)
	if err != nil {
		return c, err
	}
	if r.options.Finite {
		return c, ErrFinite
	}
	<-r.begun
	r.changing.Lock()
	defer r.changing.Unlock()
	if r.lifetime.Err() != nil {
		return c, ErrNotRunning
	}
	var kept, begun, leaving []*piece
	var groups [][]Node
	for _, group := range g.connected() {
		if old := r.kept(group, same); old != nil {
			kept = append(kept, old)
			continue
		}
		groups = append(groups, group)
		c.Started = append(c.Started, names(group)...)
	}
	for _, old := range r.pieces {
		if slices.Contains(kept, old) {
			continue
		}
		leaving = append(leaving, old)
		c.Stopped = append(c.Stopped, names(old.nodes)...)
		if n := old.lasting(r.options.Lasting); n != "" {
			return c, &NodeError{n, "change", ErrLasting}
		}
	}
	if only {
		return c, nil
	}
	halt(leaving)
	r.budget.bound(inFlight(&r.options, nodes), r.options.MaxInFlightBytes)
	for _, group := range groups {
		begun = append(begun, r.piece(group))
	}
	late := time.NewTimer(startTime)
	defer late.Stop()
	if err = r.start(begun, late.C); err != nil {
		begun, c.Started = nil, nil
	}
	next := append(kept, begun...)
	slices.SortFunc(next, func(a, b *piece) int {
		return g.byName[a.nodes[0].Name].index - g.byName[b.nodes[0].Name].index
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, old := range leaving {
		if old.err != nil {
			r.options.Logger.Warn("a part of the pipeline did not end well", "error", old.err)
		}
		r.over.add(old.result)
	}
	r.pieces = next
	return c, err
}

// lasting names a node of a piece that runs and cannot be started again; "": there is none.
func (c *piece) lasting(is func(Node) bool) string {
	select {
	case <-c.ended:
		return ""
	default:
	}
	if i := slices.IndexFunc(c.nodes, func(n Node) bool { return is != nil && is(n) }); i >= 0 {
		return c.nodes[i].Name
	}
	return ""
}

// kept is the piece that has the nodes as they are; nil: there is none.
func (r *Runner) kept(nodes []Node, same func(name string) bool) *piece {
	i := slices.IndexFunc(r.pieces, func(c *piece) bool { return c.nodes[0].Name == nodes[0].Name })
	unchanged := func(a, b Node) bool { return a.Name == b.Name && same(a.Name) }
	if i < 0 || !slices.EqualFunc(r.pieces[i].nodes, nodes, unchanged) {
		return nil
	}
	return r.pieces[i]
}

func names(nodes []Node) (names []string) {
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	return names
}

func (r *Runner) result() Result {
	r.mu.RLock()
	defer r.mu.RUnlock()
	sum := r.over
	for _, c := range r.pieces {
		sum.add(c.result)
		sum.Nodes = append(sum.Nodes, c.result.Nodes...)
	}
	return sum
}

// add adds the counts of another result.
func (r *Result) add(o Result) {
	r.Delivered += o.Delivered
	r.DeadLettered += o.DeadLettered
	r.Dropped += o.Dropped
	r.GivenBack += o.GivenBack
	r.Retried += o.Retried
}

// now are the pieces of this moment.
func (r *Runner) now() []*piece {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.pieces
}

// Nodes are those that run now, or are to.
func (r *Runner) Nodes() (nodes []Node) {
	for _, c := range r.now() {
		nodes = append(nodes, c.nodes...)
	}
	return nodes
}

// Stats tells what every node has done and is doing, since it was started.
func (r *Runner) Stats() (all []NodeStats) {
	for _, c := range r.now() {
		all = append(all, c.Stats()...)
	}
	return all
}

// Warnings are about what the graph does not use.
func (r *Runner) Warnings() (all []*GraphError) {
	for _, c := range r.now() {
		all = append(all, c.Warnings()...)
	}
	return all
}

// PushSinks are the names of the sinks through which Push sends, in their order.
func (r *Runner) PushSinks() (names []string) {
	for _, c := range r.now() {
		names = append(names, c.PushSinks()...)
	}
	slices.Sort(names)
	return names
}

// Push sends messages through a running sink, as Pipeline.Push does.
func (r *Runner) Push(ctx context.Context, sink string, deadline time.Time,
	msgs []*message.Message) ([]component.Answer, error) {
	for _, c := range r.now() {
		if slices.Contains(names(c.nodes), sink) {
			return c.Push(ctx, sink, deadline, msgs)
		}
	}
	return nil, ErrNoSink
}
