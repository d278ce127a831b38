package pipeline

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// Errors of Push.
var (
	// ErrNotRunning: the sinks are not started yet, or are closed.
	ErrNotRunning = errors.New("the pipelines are not running")
	// ErrNoSink: there is no sink of that name that pushes.
	ErrNoSink = errors.New("there is no such sink that pushes")
)

// gate lets messages in while the sinks are open.
type gate struct {
	mu sync.RWMutex
	on bool
}

func (g *gate) open()  { g.set(true) }
func (g *gate) close() { g.set(false) }

func (g *gate) set(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.on = on
}

// PushSinks are the names of the sinks through which Push sends, in their order.
func (p *Pipeline) PushSinks() (names []string) {
	for _, n := range p.graph.nodes {
		if _, ok := n.Sink.(component.DirectSink); ok {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Push sends messages through a running sink, past the graph, and returns what the far end said of each by deadline.
// Nothing is tried again, nothing becomes a dead letter, and the sink's concurrency and rate are not asked. The error
// is ErrNoSink or ErrNotRunning. The messages must not be changed any more.
func (p *Pipeline) Push(ctx context.Context, sink string, deadline time.Time,
	msgs []*message.Message) (_ []component.Answer, err error) {
	at := slices.IndexFunc(p.graph.nodes, func(n *node) bool { return n.Name == sink })
	if at < 0 {
		return nil, ErrNoSink
	}
	s, ok := p.graph.nodes[at].Sink.(component.DirectSink)
	if !ok {
		return nil, ErrNoSink
	}
	p.direct.mu.RLock()
	if !p.direct.on {
		p.direct.mu.RUnlock()
		return nil, ErrNotRunning
	}
	ctx, cancel := context.WithDeadline(ctx, deadline.Add(pushPatience))
	defer cancel()
	// No sink is closed while messages are handed to it; what is under way then ends with it, and is answered for.
	inside := sync.OnceFunc(p.direct.mu.RUnlock)
	defer inside()
	return component.SendDirect(ctx, s, msgs, deadline, inside), nil
}

// pushPatience is how long after its deadline an answer is waited for.
const pushPatience = 2 * time.Second
