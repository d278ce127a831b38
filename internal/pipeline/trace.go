package pipeline

import (
	"context"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	trace "github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// as is the context of the pipeline's work that says which step does it, where messages are traced.
func (p *Pipeline) as(n *node) context.Context {
	if p.options.Trace == nil {
		return p.work
	}
	return trace.By(p.work, n.Name)
}

// tap tells those who watch a step what came to it, or left it.
func (p *Pipeline) tap(n *node, kind trace.Kind, m *message.Message) {
	if p.options.Taps.On() {
		p.options.Taps.Tell(&trace.Note{ID: m.ID, Kind: kind, Time: p.options.Clock().UnixNano(),
			Place: trace.Place{Name: n.Name}}, m)
	}
}

// tapAnswer tells those who watch a step what it was answered for a message.
func (p *Pipeline) tapAnswer(n *node, q *part, o *component.Outcome, began, came time.Time) {
	note := trace.Note{ID: q.msg.ID, Kind: trace.Answered, Time: came.UnixNano(), Place: trace.Place{Name: n.Name},
		Attempt: q.tries + 1, For: came.Sub(began), Text: o.Verdict.String()}
	if o.Reason != nil {
		note.Text += ": " + cut(reasonText(o.Reason), obituaryReason)
	}
	p.options.Taps.Tell(&note, q.msg)
}

// sendings begins the ways of messages to a step's far end, for those that are traced; nil: none is.
func (p *Pipeline) sendings(parts []*part) (of []trace.Sending) {
	spans := p.options.Trace.Spans()
	if spans == nil {
		return nil
	}
	for i, q := range parts {
		if g := p.sending(q); g.Traced() {
			if of == nil {
				of = make([]trace.Sending, len(parts))
			}
			of[i] = g
		}
	}
	return of
}

// sending is the way of a message to a far end. What was made of a message is on that one's way; a dead letter is on
// none.
func (p *Pipeline) sending(q *part) trace.Sending {
	if q.fatal != nil {
		return trace.Sending{}
	}
	return p.options.Trace.Spans().Sending(q.j.root, fromOf(q))
}

// fromOf is the queue that a message comes from, if it comes from one.
func fromOf(q *part) (at trace.Place) {
	if from, err := queue.ParseName(q.j.delivery.Queue); err == nil {
		at = trace.Place{Namespace: from.Namespace, Name: from.Name}
	}
	return at
}

// tell tells what a step was answered for a message, and how long that took. Of what never was in a queue only failures
// are told: lines of files come too fast, and nobody knows their ids. Where the message is traced, g is its way.
func (p *Pipeline) tell(n *node, q *part, o *component.Outcome, began, came time.Time, g *trace.Sending) {
	if p.options.Taps.On() {
		p.tapAnswer(n, q, o, began, came)
	}
	silent := q.fatal != nil || o.Verdict == component.Delivered && q.j.delivery.Queue == ""
	if p.options.Trace == nil || silent && !g.Traced() {
		return
	}
	note := trace.Note{ID: q.msg.ID, Kind: trace.Answered, Time: came.UnixNano(), Place: trace.Place{Name: n.Name},
		Attempt: q.tries + 1, For: came.Sub(began), Text: o.Verdict.String(), Hops: &q.msg.Hops}
	note.From = fromOf(q)
	if o.Reason != nil {
		note.Text += ": " + o.Reason.Error()
	}
	if !o.Held { // else nothing was sent
		failed := o.Verdict == component.Retry || o.Verdict == component.Rejected
		p.options.Trace.Spans().Sent(g, &note, failed)
	}
	switch {
	case silent:
	case o.Verdict == component.Delivered:
		p.options.Trace.End(&note, note.For)
	default:
		p.options.Trace.Keep(&note)
	}
}

// tellMade tells of a message that a transform made of another one.
func (p *Pipeline) tellMade(n *node, of, made *message.Message) {
	if p.options.Trace == nil || made.ID == of.ID {
		return
	}
	p.options.Trace.Made(of.ID, &trace.Note{ID: made.ID, Time: p.options.Clock().UnixNano(),
		Place: trace.Place{Name: n.Name}})
}
