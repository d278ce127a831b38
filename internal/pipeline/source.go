package pipeline

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/hikyaku/hikyaku/internal/component"
	trace "github.com/hikyaku/hikyaku/internal/journey"
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

	returned chan struct{} // closed when Run has returned
}

func (e *entry) Send(ctx context.Context, d component.Delivery) error {
	if d.Message == nil {
		return ErrNoMessage
	}
	size := d.Message.Size()
	if _, err := e.admit(ctx, size); err != nil {
		return err
	}
	j := &journey{p: e.p, entry: e, delivery: d, root: e.p.prepared(&d), size: size}
	e.begin(j)
	return nil
}

// admit waits until there is room for a message of the first of these sizes, and takes as many of the others in as
// there is room for then. It returns how many.
func (e *entry) admit(ctx context.Context, sizes ...int) (n int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	select {
	case <-e.p.stopping:
		return 0, ErrStopping
	default:
	}
	if n, err = e.p.budget.take(ctx, e.p.stopping, e.account, sizes...); err != nil {
		return 0, err
	}
	e.mu.Lock()
	if e.ended {
		e.mu.Unlock()
		bytes := 0
		for _, size := range sizes[:n] {
			bytes += size
		}
		e.p.budget.give(e.account, n, bytes)
		return 0, ErrStopping
	}
	e.live += n
	e.mu.Unlock()
	e.node.in.Add(uint64(n))
	return n, nil
}

// begin sends a journey on its way.
func (e *entry) begin(j *journey) {
	e.p.tap(e.node, trace.Out, j.root)
	j.left.Store(1)
	from, lost := e.aim(j)
	if lost != nil {
		j.bury(&part{j: j, msg: j.root}, j.only, component.Reject(lost))
		return
	}
	e.p.route(j, j.root, nil, from.outs[""])
	j.drop()
}

// prepared is a delivery's message with all that the way from its source gives it: itself where nothing is missing.
func (p *Pipeline) prepared(d *component.Delivery) *message.Message {
	given, queued := d.Message, d.Queue != ""
	if !given.ID.IsZero() && given.Hops[message.Accepted] != 0 &&
		(!queued || given.Hops[message.Claimed] != 0 && given.Origin.Mark == 0) {
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
		// The mark was true where the outside source was read. Messages leave a queue in another order, and where they
		// go now, it would have those refused that come late.
		m.Origin.Mark = 0
	}
	return &m
}

// aim finds the step that a replayed message is meant for, and where it goes on. A step that this graph does not have
// is no step: everybody gets the message. One that it has, but elsewhere, is an error: the message would be dropped.
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
		err = fmt.Errorf("it was replayed for %s, but came through source %s, which does not lead there", n.Name,
			e.node.Name)
	}
	return e.node, err
}

// settled counts journeys out.
func (e *entry) settled(n int, sum sums) {
	e.node.delivered.Add(uint64(n) - sum.givenBack)
	e.node.givenBack.Add(sum.givenBack)
	e.p.budget.give(e.account, n, sum.bytes)
	e.mu.Lock()
	e.live -= n
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
	close(e.returned)
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
