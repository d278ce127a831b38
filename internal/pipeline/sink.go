package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	trace "github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
)

// deliver works on a group: one Send, and what follows from its outcomes.
func (p *Pipeline) deliver(n *node, g *group) sample {
	batch := make([]*message.Message, len(g.parts))
	for i, q := range g.parts {
		batch[i] = q.msg
	}
	n.request(len(batch))
	ctx, cancel := context.WithTimeout(p.as(n), n.Settings.Request.Timeout)
	ways := p.sendings(g.parts)
	began := time.Now()
	outcomes, err := p.send(trace.Sends(ctx, ways), n, batch)
	told := sample{at: time.Now(), size: len(batch)}
	told.took = told.at.Sub(began)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = timedOut(err, n.Settings.Request.Timeout)
	}
	cancel()
	if component.IsStop(err) && len(outcomes) != len(batch) {
		p.halt(n, err)
		bytes := 0
		for _, q := range g.parts {
			bytes += q.size
			q.lose(n)
		}
		n.stage.leave(len(g.parts), bytes)
		return told
	}
	if len(outcomes) == len(batch) {
		n.failed(err, p.options.Clock())
	} else {
		if outcomes = whole(len(batch), len(outcomes), err); outcomes == nil {
			n.failed(err, p.options.Clock())
			n.stage.split(g.parts)
			return told
		}
	}

	sent := p.options.Clock()
	gone, bytes, delivered := 0, 0, 0
	again := false
	over := make([]*journey, 0, len(g.parts))
	for i, q := range g.parts {
		o := outcomes[i]
		var way trace.Sending
		if ways != nil {
			way = ways[i]
		}
		p.tell(n, q, &o, began, told.at, &way)
		if o.Verdict == component.Retry {
			told.failed += 1 / float64(len(batch))
			told.slow = told.slow || o.Slow
		}
		switch {
		case o.Verdict == component.Delivered && q.fatal == nil: // the usual way, which shares what it costs
			if o.Sent.IsZero() {
				o.Sent = sent
			}
			q.msg.Hops.Mark(message.Sent, o.Sent)
			delivered++
			if q.ends(n, o) {
				over = append(over, q.j)
			}
		case p.answered(n, q, o, sent):
			again = true
			continue // it sleeps
		}
		gone, bytes = gone+1, bytes+q.size
	}
	n.delivered.Add(uint64(delivered))
	if again {
		n.retries.Add(1) // of the request, however many of its messages are sent again
	}
	p.settle(over...)
	n.stage.leave(gone, bytes)
	return told
}

// answered does what follows from a sink's answer for one message, which was sent at the given time where the answer
// does not say. It returns true if the part sleeps in the stage until its retry, false if it has left.
func (p *Pipeline) answered(n *node, q *part, o component.Outcome, sent time.Time) (sleeps bool) {
	if o.Sent.IsZero() {
		o.Sent = sent
	}
	q.msg.Hops.Mark(message.Sent, o.Sent)
	switch o.Verdict {
	case component.Delivered:
		p.arrived(n, q, o)
		return false
	case component.Dropped:
		n.drop(o.Reason)
		q.end(n, o)
		return false
	}
	return p.failed(n, q, o)
}

func (p *Pipeline) send(ctx context.Context, n *node, batch []*message.Message) (_ []component.Outcome, err error) {
	defer p.recovered(n, "send", &err)
	return n.Sink.Send(ctx, batch)
}

// timedOut says so, with the setting that decides it, and keeps what the error told the pipeline.
func timedOut(err error, after time.Duration) error {
	if _, ok := component.AsRetry(err); ok || component.IsReject(err) {
		return err
	}
	return fmt.Errorf("no answer within %v (request.timeout_secs): %w", after, err)
}

// whole makes outcomes of an answer for a batch of n as a whole. nil: the batch has to be asked again by halves,
// because one of its messages is at fault.
func whole(n, answers int, err error) []component.Outcome {
	var panicked *PanicError
	reject, panics := component.IsReject(err), errors.As(err, &panicked)
	switch {
	case n > 1 && (reject || panics):
		return nil
	case reject:
		return component.All(n, component.Reject(err))
	case err == nil:
		err = fmt.Errorf("the sink gave %d answers for %d messages: a defect of it", answers, n)
	}
	after, _ := component.AsRetry(err)
	o := component.Again(after, err)
	o.Held = component.IsHold(err)
	return component.All(n, o)
}

// arrived ends a part that its far end has.
func (p *Pipeline) arrived(n *node, q *part, o component.Outcome) {
	if q.fatal != nil {
		q.fatal.node.dead.Add(1)
		p.announce(q.fatal.node, q.fatal.part.outcome.Reason)
		q.fatal.part.end(q.fatal.node, *q.fatal.part.outcome)
		return
	}
	n.delivered.Add(1)
	q.end(n, o)
}

// failed decides what follows from a Retry or Rejected outcome. It returns true if the part sleeps in the stage until
// its retry, false if it has left.
func (p *Pipeline) failed(n *node, q *part, o component.Outcome) (sleeps bool) {
	if o.Reason == nil {
		o.Reason = errors.New("no reason given")
	}
	if o.Verdict == component.Rejected {
		q.tries++
		q.j.bury(q, n, o)
		return false
	}
	if p.work.Err() != nil { // the end of the pipeline is not the message's fault
		q.lose(n)
		return false
	}
	if o.Back && q.fatal == nil {
		n.givenBack.Add(1)
		q.end(n, o)
		return false
	}
	if !o.Held {
		q.tries, q.holds = q.tries+1, 0
	} else if o.After == 0 {
		q.holds++
	}
	if most, bounded := n.Settings.Request.retries(); bounded && q.tries > most {
		o.Reason = fmt.Errorf("given up after %d tries: %w", q.tries, o.Reason)
		q.j.bury(q, n, o)
		return false
	}
	n.failed(o.Reason, p.options.Clock())
	if q.fatal != nil {
		p.mourn(n, q.fatal.node, o.Reason)
	}
	wait := backoff(n.Settings.Request, max(1, q.tries, q.holds), o.After, p.options.Rand())
	n.stage.sleep(q.alone(), time.Now().Add(wait))
	return true
}

// mourn tells of a dead letter that can not be written: in the statistics of the node that gave it up, and once in the
// log.
func (p *Pipeline) mourn(yard, n *node, err error) {
	n.failed(fmt.Errorf("dead letter for %s: %w", yard.Name, err), p.options.Clock())
	if yard.mourned.CompareAndSwap(false, true) {
		p.options.Logger.Warn("a dead letter cannot be written and will be tried again; its message is not settled "+
			"until then",
			"queue", yard.Name, "step", n.Name, "error", err)
	}
}
