package pipeline

import (
	"context"
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/component"
	trace "github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
)

// stream lets a component make messages of one, which are journeys of their own. The part of the one they are made of
// ends when the component says so.
func (p *Pipeline) stream(n *node, g *group) sample {
	q := g.parts[0]
	if p.work.Err() != nil {
		q.lose(n)
		n.stage.leave(1, q.size)
		return sample{}
	}
	n.request(1)
	err := p.callStream(n, q)
	sleeps := false
	switch {
	case err == nil: // the component settles it
	case p.over():
		q.lose(n)
	default:
		sleeps = n.again(p.failed(n, q, outcomeOf(err)))
	}
	if !sleeps {
		n.stage.leave(1, q.size)
	}
	return sample{}
}

// over tells whether the pipeline takes no more messages.
func (p *Pipeline) over() bool {
	select {
	case <-p.stopping:
		return true
	default:
		return p.work.Err() != nil
	}
}

func (p *Pipeline) callStream(n *node, q *part) (err error) {
	defer p.recovered(n, "stream", &err)
	ctx, cancel := context.WithCancel(p.work)
	defer cancel()
	d := component.Delivery{Message: q.msg, Attempt: q.tries + 1, Queue: q.j.delivery.Queue, Way: q.way,
		Settle: func(o component.Outcome) {
			if o.Verdict == component.Delivered {
				q.end(nil, component.Outcome{})
				return
			}
			if o.Back {
				n.givenBack.Add(1)
				q.end(n, o)
				return
			}
			q.lose(n)
		}}
	return n.Stream.Stream(ctx, d, &branch{p: p, node: n, from: q})
}

// branch is where a StreamTransform sends what it makes of one message.
type branch struct {
	p    *Pipeline
	node *node
	from *part
}

// Send makes a journey of a message. It is Out's, for a transform's output.
func (b *branch) Send(ctx context.Context, d component.Delivery) error {
	if d.Message == nil {
		return ErrNoMessage
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.p.over() {
		return ErrStopping
	}
	e := b.node.entry
	size := d.Message.Size()
	if _, err := b.p.budget.take(ctx, b.p.stopping, e.account, size); err != nil {
		return err
	}
	e.mu.Lock()
	e.live++
	e.mu.Unlock()
	b.node.out.Add(1)
	parent := b.from.j
	if d.Queue == "" {
		d.Queue = parent.delivery.Queue // where a dead letter of it can be replayed to
	}
	if d.Attempt == 0 {
		d.Attempt = parent.delivery.Attempt
	}
	j := &journey{p: b.p, entry: e, delivery: d, root: d.Message, size: size, only: parent.only, above: b.node}
	if j.root.Hops == (message.Hops{}) {
		m := *d.Message
		m.Hops = b.from.msg.Hops
		j.root = &m
	}
	b.p.tellMade(b.node, b.from.msg, j.root)
	b.p.tap(b.node, trace.Out, j.root)
	j.left.Store(1)
	b.p.route(j, j.root, nil, b.node.outs[""])
	j.drop()
	return nil
}

// stepMark stands in the step of a dead letter between the transform that sent it and the step that gave it up, so that
// a replay takes it up where it came to be. No component's name contains it.
const stepMark = "/"

// step is what a dead letter of this journey names as its step.
func (j *journey) step(n *node) string {
	if j.above == nil {
		return n.Name
	}
	return j.above.Name + stepMark + n.Name
}

// aimBranch finds the place of a replayed message that a transform had sent: the transform, and the step that it is
// meant for.
func (e *entry) aimBranch(text string) (from, to *node, err error) {
	above, step, _ := strings.Cut(text, stepMark)
	from, to = e.p.graph.byName[above], e.p.graph.byName[step]
	if from == nil || to == nil || from.Stream == nil || !e.node.below.has(from.index) || !from.below.has(to.index) {
		if to == nil || to.kind == KindSource {
			to = e.node.targets()[0] // somebody has to keep the dead letter
		}
		return e.node, to, fmt.Errorf("it was replayed for %s of what %s makes, and that way is not there any more "+
			"(replay it to another queue)", step, above)
	}
	return from, to, nil
}
