package pipeline

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// entry is where a source's deliveries come in. It is the source's Out.
type entry struct {
	p       *Pipeline
	node    *node
	account *account

	mu      sync.Mutex
	live    int           // deliveries not settled
	ended   bool          // Run has returned
	drained chan struct{} // closed when ended and nothing is live
}

func (e *entry) Send(ctx context.Context, d component.Delivery) error {
	if d.Message == nil {
		return ErrNoMessage
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-e.p.stopping:
		return ErrStopping
	default:
	}
	size := d.Message.Size()
	if err := e.p.budget.take(ctx, e.p.stopping, e.account, size); err != nil {
		return err
	}
	e.mu.Lock()
	if e.ended {
		e.mu.Unlock()
		e.p.budget.give(e.account, 1, size)
		return ErrStopping
	}
	e.live++
	e.mu.Unlock()
	e.node.in.Add(1)

	j := &journey{p: e.p, entry: e, delivery: d, root: e.p.prepared(&d), size: size}
	j.left.Store(1)
	from, lost := e.aim(j)
	if lost != nil {
		j.bury(&part{j: j, msg: j.root}, j.only, component.Reject(lost))
		return nil
	}
	e.p.route(j, j.root, nil, from.outs[""])
	j.drop(1)
	return nil
}

// prepared is a delivery's message with all that the way from its source gives it: itself where nothing is missing.
func (p *Pipeline) prepared(d *component.Delivery) *message.Message {
	given, queued := d.Message, d.Queue != ""
	if !given.ID.IsZero() && given.Hops[message.Accepted] != 0 && (!queued || given.Hops[message.Claimed] != 0 && given.Origin.Mark == 0) {
		return given
	}
	m := *given
	if m.ID.IsZero() {
		m.ID = message.NewID() // far ends know messages by it
	}
	if m.Hops[message.Accepted] == 0 {
		m.Hops.Mark(message.Accepted, p.options.Clock())
	}
	if queued {
		if m.Hops[message.Claimed] == 0 {
			m.Hops.Mark(message.Claimed, p.options.Clock())
		}
		// The mark was true where the outside source was read. Messages leave a queue in another order, and where they go now, it
		// would have those refused that come late.
		m.Origin.Mark = 0
	}
	return &m
}

// aim finds the step that a replayed message is meant for, and where it goes on. A step that this graph does not have is no step: everybody gets the message. One that it
// has, but elsewhere, is an error: the message would be dropped.
func (e *entry) aim(j *journey) (from *node, err error) {
	if strings.Contains(j.root.Only, stepMark) {
		if from, j.only, err = e.aimBranch(j.root.Only); err == nil {
			j.above = from
		}
		return from, err
	}
	n := e.p.graph.byName[j.root.Only]
	if j.root.Only == "" || n == nil || n.kind == KindSource {
		return e.node, nil
	}
	j.only = n
	if !e.node.below.has(n.index) {
		err = fmt.Errorf("it was replayed for %s, but came through source %s, which does not lead there", n.Name, e.node.Name)
	}
	return e.node, err
}

// settled counts a journey out.
func (e *entry) settled(j *journey) {
	e.p.budget.give(e.account, 1, j.size)
	e.mu.Lock()
	e.live--
	drained := e.ended && e.live == 0
	e.mu.Unlock()
	if drained {
		e.p.drain(e)
	}
}

// end notes that the source's Run has returned.
func (e *entry) end() {
	e.mu.Lock()
	e.ended = true
	drained := e.live == 0
	e.mu.Unlock()
	e.p.flushBelow(e)
	if drained {
		e.p.drain(e)
	}
}

// run is the life of a source.
func (e *entry) run(ctx context.Context) (err error) {
	defer e.p.recovered(e.node, "run", &err)
	return e.node.Source.Run(ctx, e)
}
