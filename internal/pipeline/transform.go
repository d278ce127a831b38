package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// emitted is a message that a transform emitted.
type emitted struct {
	port string
	msg  *message.Message
}

// transform works on a group: each message by itself, in order.
func (p *Pipeline) transform(n *node, g *group) sample {
	var outs []emitted
	gone := make([]*part, 0, len(g.parts))
	for _, q := range g.parts {
		outs = outs[:0]
		err := p.work.Err()
		if err == nil {
			outs, err = p.transformOne(n, q.msg, outs)
		}
		if !p.transformed(n, q, outs, err) {
			gone = append(gone, q)
		}
		clear(outs)
	}
	n.stage.leave(gone...)
	return sample{}
}

// transformed does what follows from a transform's answer for one message. It returns true if that sleeps in the stage until
// its retry, false if it has left.
func (p *Pipeline) transformed(n *node, q *part, outs []emitted, err error) (sleeps bool) {
	switch {
	case err == nil:
		p.pass(n, q, outs)
		q.end(nil, component.Outcome{})
		return false
	case p.work.Err() != nil: // the end of the pipeline is not the message's fault
		q.lose(n)
		return false
	}
	o := component.Reject(err)
	if after, ok := component.AsRetry(err); ok {
		o = component.Again(after, err)
	}
	return p.failed(n, q, o)
}

// transformOne calls the component and gathers what it emits.
func (p *Pipeline) transformOne(n *node, m *message.Message, outs []emitted) (_ []emitted, err error) {
	defer p.recovered(n, "transform", &err)
	ctx, cancel := context.WithTimeout(p.work, n.Settings.Request.Timeout)
	defer cancel()
	n.request(1)
	var wrong error
	emit := func(port string, m *message.Message) {
		if defect := n.defect(port, m); defect != nil {
			wrong = defect
			return
		}
		outs = append(outs, emitted{port, m})
	}
	err = n.Transform.Transform(ctx, m, emit)
	if err == nil {
		err = wrong
	}
	return outs, err
}

// defect says what is wrong with a message that a transform emitted.
func (n *node) defect(port string, m *message.Message) error {
	switch {
	case m == nil:
		return errors.New("the transform emitted no message at all: a defect of it")
	case !n.ports[port]:
		return fmt.Errorf("the transform emitted to its output %q, which it does not have: a defect of it", port)
	}
	return nil
}

// pass sends on what was made of q.
func (p *Pipeline) pass(n *node, q *part, outs []emitted) {
	by := &made{covered: q.extra == 0}
	for i, o := range outs {
		n.out.Add(1)
		to := n.outs[o.port]
		if len(to) == 0 {
			n.unused.Add(1)
			continue
		}
		// The transform may have emitted what it was given, or one message twice.
		m := *o.msg
		m.Origin = q.msg.Origin
		m.Origin.Part = partOf(q.msg.Origin.Part, n.Name, i)
		tellApart(&m, q.msg, m.Origin.Part, i)
		if m.Hops == (message.Hops{}) {
			m.Hops = q.msg.Hops
		}
		if m.Time.IsZero() {
			m.Time = q.msg.Time
		}
		by.way = partOf(q.way, n.Name, i)
		p.route(q.j, &m, by, to)
	}
}
