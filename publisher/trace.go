package publisher

import (
	"context"
	"maps"
	"strings"

	"cloud.google.com/go/pubsub/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// tracedPrefix begins the attributes in which Google's clients carry the context of a trace.
const tracedPrefix = "googclient_"

// tracer makes spans, if there is anybody to make them for.
type tracer struct{ of trace.Tracer }

func newTracer(p trace.TracerProvider) tracer {
	if p == nil {
		return tracer{}
	}
	return tracer{p.Tracer("github.com/hikyaku/hikyaku/publisher")}
}

func (t tracer) on() bool { return t.of != nil }

// journey is the spans of a message: from Publish to its answer, and the parts of it in which it waits for room, and
// then for its request.
type journey struct {
	create, room, wait trace.Span // wait: nil before it was admitted
	of                 trace.Tracer
	ctx                context.Context // of create
}

// admitted is called when there is room for the message.
func (j *journey) admitted() {
	j.room.End()
	_, j.wait = j.of.Start(j.ctx, "publisher batching")
}

// begin starts the spans of a message. What is sent is a copy with the context in it: the caller's attributes may be
// others' too.
func (t tracer) begin(ctx context.Context, p *Publisher, r *PublishResult) {
	ctx, create := t.of.Start(ctx, p.ID()+" create", trace.WithSpanKind(trace.SpanKindProducer), about(p.topic, p.ID()),
		trace.WithAttributes(
			attribute.String("code.function", "Publish"),
			attribute.Int("messaging.message.body.size", len(r.msg.Data)),
			attribute.String("messaging.gcp_pubsub.message.ordering_key", r.msg.OrderingKey)))
	_, room := t.of.Start(ctx, "publisher flow control")
	r.span = &journey{create: create, room: room, of: t.of, ctx: ctx}
	if !create.SpanContext().IsValid() {
		return
	}
	attributes := maps.Clone(r.msg.Attributes)
	if attributes == nil {
		attributes = make(map[string]string, 1)
	}
	propagation.TraceContext{}.Inject(ctx, carried(attributes))
	r.msg = &pubsub.Message{Data: r.msg.Data, Attributes: attributes, OrderingKey: r.msg.OrderingKey}
}

// about are the attributes that Google's publisher gives its spans, too, so that what looks for those finds ours.
func about(topic, id string) trace.SpanStartEventOption {
	project, _, _ := strings.Cut(strings.TrimPrefix(topic, "projects/"), "/")
	return trace.WithAttributes(
		attribute.String("messaging.system", "gcp_pubsub"),
		attribute.String("messaging.destination.name", id),
		attribute.String("gcp.project_id", project),
		attribute.String("gcp.resource.name", topic))
}

// end ends the spans with the message's fate.
func (j *journey) end(id string, err error) {
	if j.wait == nil { // it was refused
		j.room.End()
	} else {
		j.wait.End() // once more, unless it was refused before it left
	}
	if err != nil {
		j.create.RecordError(err)
		j.create.SetStatus(codes.Error, err.Error())
	} else {
		j.create.SetAttributes(attribute.String("messaging.message.id", id))
		j.create.AddEvent("publish end")
	}
	j.create.End()
}

// beginRequest starts the span of a request, which is linked with those of its messages.
func (t tracer) beginRequest(ctx context.Context, s *sender, g *group) (context.Context, func(error)) {
	links := make([]trace.Link, 0, g.count)
	size := attribute.Int("messaging.batch.message_count", g.count)
	for r := g.first; r != nil; r = r.next {
		r.span.wait.End()
		r.span.create.AddEvent("publish start", trace.WithAttributes(size))
		if c := r.span.create.SpanContext(); c.IsSampled() {
			links = append(links, trace.Link{SpanContext: c})
		}
	}
	ctx, span := t.of.Start(ctx, s.id+" publish", about(s.topic, s.id), trace.WithLinks(links...),
		trace.WithAttributes(size))
	if span.SpanContext().IsSampled() {
		for r := g.first; r != nil; r = r.next {
			r.span.create.AddLink(trace.Link{SpanContext: span.SpanContext(),
				Attributes: []attribute.KeyValue{attribute.String("messaging.operation.name", "publish")}})
		}
	}
	return ctx, func(err error) {
		if err != nil {
			span.RecordError(err)
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}

// carried is a message's attributes as OpenTelemetry writes to them.
type carried map[string]string

// Get implements propagation.TextMapCarrier.
func (c carried) Get(name string) string { return c[tracedPrefix+name] }

// Set implements propagation.TextMapCarrier.
func (c carried) Set(name, value string) { c[tracedPrefix+name] = value }

// Keys implements propagation.TextMapCarrier.
func (c carried) Keys() (names []string) {
	for name := range c {
		names = append(names, name)
	}
	return names
}
