package pipeline

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// node is a Node in a checked graph.
type node struct {
	Node
	counters
	index     int
	kind      string
	deadQueue queue.Name // for what it gives up

	ports map[string]bool    // the outputs of a source or transform
	outs  map[string][]*node // who takes each of them, in the order of the nodes
	ins   []*node

	lineage set // itself, its ancestors and its descendants: the way of a message replayed for it
	below   set // its descendants
	sources set // the sources that lead to it

	stage *stage // transforms and sinks
	// of transforms that take several messages at a time
	together func(ctx context.Context, ms []*message.Message, emit component.EmitFor) []error
	// writes into the dead queue
	graveyard *stage
	// sources, and transforms that stream
	entry *entry
	// of groups that leave in order; nil: they need not
	turns *turns

	overseers  []component.Overseer // transforms above that have a say in what comes here
	receipts   *receipts            // of a sink whose receipts are wanted; nil: there are none
	obituaries obituaries
	mourned    atomic.Bool // of a graveyard: it was told that a dead letter cannot be written

	halted bool // it stopped the pipeline; the pipeline's lock guards it
}

// graph is what New makes of Nodes. It does not change.
type graph struct {
	nodes    []*node
	byName   map[string]*node
	errs     GraphErrors
	warnings []*GraphError
}

func newGraph(nodes []Node) (*graph, error) {
	g := &graph{byName: map[string]*node{}}
	for i := range nodes {
		g.add(nodes[i])
	}
	for _, n := range g.nodes {
		g.connect(n)
	}
	if len(g.errs) == 0 {
		g.checkCycles()
	}
	if len(g.errs) == 0 {
		g.checkUse()
	}
	if len(g.errs) > 0 {
		return nil, g.errs
	}
	g.relate()
	if g.checkReceipts(); len(g.errs) > 0 {
		return nil, g.errs
	}
	return g, nil
}

func (g *graph) wrong(n, input, hint, format string, a ...any) {
	g.errs = append(g.errs, &GraphError{Node: n, Input: input, Msg: fmt.Sprintf(format, a...), Hint: hint})
}

// add takes a node in and checks what can be said of it alone.
func (g *graph) add(given Node) {
	n := &node{Node: given, index: len(g.nodes), ports: map[string]bool{}, outs: map[string][]*node{}}
	n.Settings = given.Settings.withDefaults(n.Name, limitsOf(given.Sink))
	n.Workers = max(1, n.Workers)
	g.nodes = append(g.nodes, n)

	parts := 0
	if n.Source != nil {
		n.kind, parts = KindSource, parts+1
	}
	for _, there := range []bool{n.Transform != nil, n.Group != nil, n.Stream != nil} {
		if there {
			n.kind, parts = KindTransform, parts+1
		}
	}
	if n.Sink != nil {
		n.kind, parts = KindSink, parts+1
	}
	if n.kind != KindSink {
		n.ports[""] = true
	}
	if ports, ok := n.component().(component.Ports); ok && n.kind != KindSink {
		clear(n.ports)
		for _, port := range ports.Ports() {
			n.ports[port] = true
		}
	}

	switch {
	case n.Name == "":
		g.wrong("", "", "", "component %d has no name", n.index+1)
	case g.byName[n.Name] != nil:
		g.wrong(n.Name, "", "names are shared by sources, transforms and sinks: rename one of them",
			"there are two components of this name")
	case parts != 1:
		g.wrong(n.Name, "", "", "a component is one of source, transform and sink, this is %d of them", parts)
	case n.kind == KindSource && len(n.Inputs) > 0:
		g.wrong(n.Name, n.Inputs[0], "", "a source has no inputs")
	case n.kind != KindSource && len(n.Inputs) == 0:
		g.wrong(n.Name, "", "name the sources or transforms it takes from", "this %s has no inputs", n.kind)
	}
	if g.byName[n.Name] == nil {
		g.byName[n.Name] = n
	}
	var err error
	if n.deadQueue, err = queue.ParseName(n.Settings.DeadLetter); err != nil && n.kind != KindSource && n.Name != "" {
		g.wrong(n.Name, "", "set dead_letter", "its dead-letter queue: %v", err)
	}
}

// connect resolves a node's inputs.
func (g *graph) connect(n *node) {
	if n.kind == KindSource {
		return
	}
	seen := map[string]bool{}
	for _, input := range n.Inputs {
		if seen[input] {
			g.wrong(n.Name, input, "name it once", "is named twice, so that every message would arrive twice")
			continue
		}
		seen[input] = true
		from, port, ok := g.resolve(input)
		switch {
		case !ok:
			g.wrong(n.Name, input, meant(input, g.outputs(n)), "there is no source or transform of this name")
		case from == n:
			g.wrong(n.Name, input, "", "takes from itself")
		case from.kind == KindSink:
			g.wrong(n.Name, input, meant(input, g.outputs(n)), "is a sink, and sinks have no output")
		case !from.ports[port]:
			g.wrong(n.Name, input, portHint(from), "%s %s has no output %q", from.kind, from.Name, port)
		default:
			from.outs[port] = append(from.outs[port], n)
			n.ins = append(n.ins, from)
		}
	}
}

// resolve reads "name" or "name.port"; a name may itself contain dots.
func (g *graph) resolve(input string) (from *node, port string, ok bool) {
	if n := g.byName[input]; n != nil {
		return n, "", true
	}
	if i := strings.LastIndexByte(input, '.'); i > 0 {
		if n := g.byName[input[:i]]; n != nil {
			return n, input[i+1:], true
		}
	}
	return nil, "", false
}

// outputs are all names that n could have as an input.
func (g *graph) outputs(n *node) []string {
	var names []string
	for _, from := range g.nodes {
		if from == n || from.kind == KindSink {
			continue
		}
		for port := range from.ports {
			names = append(names, outputName(from, port))
		}
	}
	slices.Sort(names)
	return names
}

func outputName(n *node, port string) string {
	if port == "" {
		return n.Name
	}
	return n.Name + "." + port
}

func portHint(n *node) string {
	var names []string
	for port := range n.ports {
		names = append(names, outputName(n, port))
	}
	slices.Sort(names)
	return "it has " + strings.Join(names, ", ")
}

// checkCycles walks every way and names the first circle it finds.
func (g *graph) checkCycles() {
	const (
		unseen = iota
		open
		done
	)
	state := make([]int, len(g.nodes))
	var way []string
	var walk func(n *node) bool
	walk = func(n *node) bool {
		switch state[n.index] {
		case open:
			i := slices.Index(way, n.Name)
			circle := append(slices.Clone(way[i:]), n.Name)
			g.wrong(n.Name, "", "let it go through a queue, or remove one of these inputs",
				"messages would go round in a circle: %s", strings.Join(circle, " → "))
			return false
		case done:
			return true
		}
		state[n.index] = open
		way = append(way, n.Name)
		for _, to := range n.targets() {
			if !walk(to) {
				return false
			}
		}
		way = way[:len(way)-1]
		state[n.index] = done
		return true
	}
	for _, n := range g.nodes {
		if !walk(n) {
			return
		}
	}
}

// targets are the nodes that take from n, each once, in the order of the nodes.
func (n *node) targets() []*node {
	var to []*node
	for _, outs := range n.outs {
		to = append(to, outs...)
	}
	slices.SortFunc(to, func(a, b *node) int { return a.index - b.index })
	return slices.Compact(to)
}

// checkUse finds what nobody takes.
func (g *graph) checkUse() {
	for _, n := range g.nodes {
		if n.kind == KindSink {
			continue
		}
		if len(n.outs) == 0 {
			g.wrong(n.Name, "", "name it in the inputs of a transform or sink, or remove it",
				"nobody takes what this %s makes", n.kind)
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(n.ports)) {
			if len(n.outs[name]) == 0 {
				g.warnings = append(g.warnings, &GraphError{
					Node: n.Name,
					Msg:  fmt.Sprintf("nobody takes its output %q: what it sends there is counted and dropped", name),
					Hint: fmt.Sprintf("name %s in somebody's inputs", outputName(n, name)),
				})
			}
		}
	}
}

// relate computes who leads where.
func (g *graph) relate() {
	size := len(g.nodes)
	for _, n := range g.nodes {
		n.below, n.lineage, n.sources = newSet(size), newSet(size), newSet(size)
	}
	for _, n := range g.nodes {
		var walk func(at *node)
		walk = func(at *node) {
			for _, to := range at.targets() {
				if !n.below.has(to.index) {
					n.below.add(to.index)
					walk(to)
				}
			}
		}
		walk(n)
	}
	for _, n := range g.nodes {
		n.lineage.add(n.index)
		for _, m := range g.nodes {
			if m.below.has(n.index) || n.below.has(m.index) {
				n.lineage.add(m.index)
			}
			if m.kind == KindSource && m.below.has(n.index) {
				n.sources.add(m.index)
			}
		}
	}
}

// oversee finds whom each transform that is an Overseer has below it, and tells it what is above. It is for a graph
// that is to run: who only checks one has nobody told.
func (g *graph) oversee() {
	for _, n := range g.nodes {
		v, ok := n.component().(component.Overseer)
		if !ok || n.kind != KindTransform {
			continue
		}
		var queues []string
		for _, m := range g.nodes {
			if n.sources.has(m.index) {
				queues = append(queues, m.Drains...)
			}
			if n.below.has(m.index) {
				m.overseers = append(m.overseers, v)
			}
		}
		v.Oversee(queues)
	}
}
