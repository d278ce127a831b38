package pipeline

import (
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	trace "github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
)

// emitted is a message that a transform emitted.
type emitted struct {
	port string
	msg  *message.Message
}

// emissions are what a transform has made of one message.
type emissions struct {
	node   *node
	outs   []emitted
	defect error // of what it emitted
}

// emit is component.Emit.
func (e *emissions) emit(port string, m *message.Message) {
	if defect := e.node.defect(port, m); defect != nil {
		e.defect = defect
		return
	}
	e.outs = append(e.outs, emitted{port, m})
}

// clear makes room for what is made of the next message.
func (e *emissions) clear() {
	clear(e.outs)
	e.outs, e.defect = e.outs[:0], nil
}

// transform works on a group: each message by itself, in order.
func (p *Pipeline) transform(n *node, g *group) sample {
	made := &emissions{node: n}
	emit := made.emit
	calls := make([]patience, len(g.parts))
	gone, bytes := 0, 0
	for i, q := range g.parts {
		size := q.size
		err := p.work.Err()
		if err == nil {
			err = p.transformOne(n, &calls[i], q.msg, emit)
		}
		if err == nil {
			err = made.defect
		}
		if !p.transformed(n, q, made.outs, err) {
			gone, bytes = gone+1, bytes+size
		}
		made.clear()
	}
	n.stage.leave(gone, bytes)
	return sample{}
}

// transformed does what follows from a transform's answer for one message. It returns true if that sleeps in the stage
// until its retry, false if it has left.
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
	return n.again(p.failed(n, q, outcomeOf(err)))
}

// again counts a message that a transform is given again.
func (n *node) again(sleeps bool) bool {
	if sleeps {
		n.retries.Add(1)
	}
	return sleeps
}

// outcomeOf is what a transform's error means.
func outcomeOf(err error) component.Outcome {
	after, again := component.AsRetry(err)
	if !again {
		return component.Reject(err)
	}
	o := component.Again(after, err)
	o.Held, o.Back = component.IsHold(err), component.IsBack(err)
	return o
}

// transformOne calls the component, which may take its time.
func (p *Pipeline) transformOne(n *node, call *patience, m *message.Message, emit component.Emit) (err error) {
	defer p.recovered(n, "transform", &err)
	call.work, call.deadline = p.work, time.Now().Add(n.Settings.Request.Timeout)
	defer call.end()
	n.request(1)
	return n.Transform.Transform(call, m, emit)
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
		m := o.msg
		if m == q.msg || len(outs) > 1 { // it may have emitted what it was given, or one message twice
			c := *m
			m = &c
		}
		inherit(m, q.msg, partOf(q.msg.Origin.Part, n.Name, i), i)
		p.tellMade(n, q.msg, m)
		p.tap(n, trace.Out, m)
		by.way = partOf(q.way, n.Name, i)
		p.route(q.j, m, by, to)
	}
}

// inherit gives the index-th message that was made from one what that has and it lacks.
func inherit(m, from *message.Message, part uint64, index int) {
	m.Origin = from.Origin
	m.Origin.Part = part
	tellApart(m, from, part, index)
	if m.Hops == (message.Hops{}) {
		m.Hops = from.Hops
	}
	if m.Time.IsZero() {
		m.Time = from.Time
	}
}
