package journey

import (
	"context"

	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Sending is a message's way to a far end, as a span. The zero Sending is of a message without a context.
type Sending struct {
	parent trace.SpanContext
	self   trace.SpanContext // the parent's where no span is told
}

// Sending begins one of a message, or of what was made of it, that came from a queue; zero: it did not.
func (s *Spans) Sending(m *message.Message, from Place) (g Sending) {
	if s == nil {
		return g
	}
	c := contextOf(m.Attributes, false)
	switch {
	case !c.IsSampled():
		return Sending{self: c} // nobody wants to see it, and the far end hears that
	case from != Place{}:
		c = below(below(c, &m.ID, Place{}, 0), &m.ID, from, m.Hops[message.Claimed])
	}
	return Sending{parent: c, self: anyBelow(c)}
}

// Traced tells whether the message has a context.
func (g *Sending) Traced() bool { return g.self.IsValid() }

// Sent tells what became of it: n is of the answer that came.
func (s *Spans) Sent(g *Sending, n *Note, failed bool) {
	if s == nil || !g.parent.IsValid() {
		return
	}
	p := &span{parent: g.parent, self: g.self, kind: trace.SpanKindClient, what: "deliver",
		op: semconv.MessagingOperationTypeSend, id: n.ID, at: n.Place, attempt: n.Attempt, outcome: n.Text,
		began: n.Time - int64(n.For), ended: n.Time}
	if failed {
		p.failed = n.Text
	}
	s.tell(p)
}

type sendings struct{}

// Sends makes the context of a request that has messages on their way, of each a Sending; none: they have no contexts.
func Sends(ctx context.Context, of []Sending) context.Context {
	if len(of) == 0 {
		return ctx
	}
	return context.WithValue(ctx, sendings{}, of)
}

// SendingsOf are those of Sends; nil: none of its messages has a context.
func SendingsOf(ctx context.Context) []Sending {
	of, _ := ctx.Value(sendings{}).([]Sending)
	return of
}

// Headers are the traceparent and tracestate of what goes out; "": there are none.
func (g *Sending) Headers() (parent, state string) {
	if !g.Traced() {
		return "", ""
	}
	f := write(g.self)
	return f.parent, f.state
}

// Keep lets what is put anew carry it on, if somebody wants to see spans of it.
func (g *Sending) Keep(as *message.Attributes) {
	if g.parent.IsValid() {
		*as = append(make(message.Attributes, 0, len(*as)+2), *as...)
		keep(as, g.self)
	}
}

// XRay is the context in the form of AWS's header X-Amzn-Trace-Id; "": there is none.
func (g *Sending) XRay() string {
	if !g.Traced() {
		return ""
	}
	id, sampled := g.self.TraceID().String(), "0"
	if g.self.IsSampled() {
		sampled = "1"
	}
	return "Root=1-" + id[:8] + "-" + id[8:] + ";Parent=" + g.self.SpanID().String() + ";Sampled=" + sampled
}
