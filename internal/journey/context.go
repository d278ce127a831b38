package journey

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"github.com/cespare/xxhash/v2"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/hikyaku/hikyaku/internal/message"
)

// The attributes in which a message has a context of W3C, in the order in which they count: ours, which is of a header
// or of the step that put the message again; the sender's own; and that of Pub/Sub's clients.
var contexts = [...]struct{ parent, state string }{
	{Parent, State},
	{"traceparent", "tracestate"},
	{"googclient_traceparent", "googclient_tracestate"},
}

// The names of our own attributes. Doors whose clients see only what was sent do not show them.
const (
	Parent = "hikyaku.traceparent"
	State  = "hikyaku.tracestate"
)

// Hidden tells whether an attribute is one of ours.
func Hidden(name string) bool { return name == Parent || name == State }

// maxState is the longest tracestate that goes on: what W3C wants kept of it at least.
const maxState = 512

// fields are the two headers of a context, for the library that reads and writes them.
type fields struct{ parent, state string }

func (f *fields) Get(key string) string {
	if key == "traceparent" {
		return f.parent
	}
	if key == "tracestate" && len(f.state) <= maxState {
		return f.state
	}
	return ""
}

func (f *fields) Set(key, value string) {
	if key == "traceparent" {
		f.parent = value
	} else if len(value) <= maxState {
		f.state = value
	}
}

func (*fields) Keys() []string { return []string{"traceparent", "tracestate"} }

// read is the context of two headers. It is not valid where W3C says that it is to be ignored.
func (f *fields) read() trace.SpanContext {
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), f))
}

// write makes the headers of a context.
func write(c trace.SpanContext) (f fields) {
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(context.Background(), c), &f)
	return f
}

// mayBeSampled looks at the flags of a traceparent alone, so that one without that wish costs nothing.
func mayBeSampled(parent string) bool {
	const flags = 54 // the last digit of them
	return len(parent) > flags && parent[flags]&1 != parent[flags]>>6&1
}

// contextOf is the context that a message carries; with sampled only one whose sender wants to see it.
func contextOf(as message.Attributes, sampled bool) (c trace.SpanContext) {
	if len(as) == 0 {
		return c
	}
	for _, names := range contexts {
		parent, ok := as.Get(names.parent)
		if !ok || parent.Kind() != message.KindString || sampled && !mayBeSampled(parent.AsString()) {
			continue
		}
		f := fields{parent: parent.AsString()}
		if state, ok := as.Get(names.state); ok && state.Kind() == message.KindString {
			f.state = state.AsString()
		}
		if c = f.read(); c.IsValid() && (c.IsSampled() || !sampled) {
			return c
		}
	}
	return trace.SpanContext{}
}

// below is the context of a span below another one, whose id follows from what it is about: so the hops of a message
// find each other after a restart and on other nodes, and the message need not change on its way.
func below(parent trace.SpanContext, id *message.ID, at Place, time int64) trace.SpanContext {
	var d xxhash.Digest // on the stack
	d.Reset()
	above, of := parent.SpanID(), parent.TraceID()
	for _, part := range [...][]byte{of[:], above[:], id[:]} {
		_, _ = d.Write(part)
	}
	_, _ = d.WriteString(at.Namespace)
	_, _ = d.WriteString("/")
	_, _ = d.WriteString(at.Name)
	return parent.WithSpanID(spanID(d.Sum64() ^ uint64(time))).WithRemote(true)
}

// anyBelow is the context of a span that nobody has to find.
func anyBelow(parent trace.SpanContext) trace.SpanContext {
	return parent.WithSpanID(spanID(rand.Uint64()))
}

// spanID makes an id, which must not be zero.
func spanID(of uint64) (id trace.SpanID) {
	binary.BigEndian.PutUint64(id[:], max(of, 1))
	return id
}

type wanted struct{}

// SpanID is the id that the next span of a context is to have; ok is false when any will do. Who makes ids for a tracer
// of Options asks it.
func SpanID(ctx context.Context) (id trace.SpanID, ok bool) {
	id, ok = ctx.Value(wanted{}).(trace.SpanID)
	return id, ok
}
