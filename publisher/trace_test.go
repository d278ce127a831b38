package publisher_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"
	"google.golang.org/api/option"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/publisher"
)

// spans is a TracerProvider that notes what its spans are told.
type spans struct {
	embedded.TracerProvider
	mu   sync.Mutex
	made []*span
}

func (s *spans) Tracer(string, ...trace.TracerOption) trace.Tracer { return &starter{all: s} }

// starter is the tracer of spans.
type starter struct {
	embedded.Tracer
	all *spans
}

func (t *starter) Start(ctx context.Context, name string, opts ...trace.SpanStartOption) (context.Context, trace.Span) {
	s := t.all
	s.mu.Lock()
	defer s.mu.Unlock()
	c := trace.NewSpanStartConfig(opts...)
	n := &span{Span: noop.Span{}, all: s, name: name, parent: trace.SpanContextFromContext(ctx), links: c.Links(),
		kind: trace.ValidateSpanKind(c.SpanKind()), attributes: map[attribute.Key]string{}}
	n.note(c.Attributes())
	n.context = trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1},
		SpanID: trace.SpanID{byte(len(s.made) + 1)}, TraceFlags: trace.FlagsSampled})
	s.made = append(s.made, n)
	return trace.ContextWithSpan(ctx, n), n
}

type span struct {
	trace.Span
	all     *spans
	name    string
	context trace.SpanContext
	parent  trace.SpanContext
	links   []trace.Link
	failed  error
	ended   bool

	kind       trace.SpanKind
	attributes map[attribute.Key]string
	events     []string
}

func (s *span) note(attributes []attribute.KeyValue) {
	for _, a := range attributes {
		s.attributes[a.Key] = a.Value.String()
	}
}

func (s *span) SetAttributes(attributes ...attribute.KeyValue) {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.note(attributes)
}

func (s *span) AddEvent(name string, opts ...trace.EventOption) {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	c := trace.NewEventConfig(opts...)
	s.events = append(s.events, fmt.Sprint(name, c.Attributes()))
}

// String is all that a span says but its ids.
func (s *span) String() string {
	text := fmt.Sprintln(s.name, s.kind, s.attributes, s.events)
	for _, l := range s.links {
		text += fmt.Sprintln("\tlinked with", s.all.made[l.SpanContext.SpanID()[0]-1].name, l.Attributes)
	}
	return text
}

func (s *span) SpanContext() trace.SpanContext { return s.context }

func (s *span) End(...trace.SpanEndOption) {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.ended = true
}

func (s *span) AddLink(l trace.Link) {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.links = append(s.links, l)
}

func (s *span) RecordError(err error, _ ...trace.EventOption) {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.failed = err
}

func (s *spans) named(name string) (found []*span) {
	for _, n := range s.made {
		if n.name == name {
			found = append(found, n)
		}
	}
	return found
}

func TestAMessageCarriesItsTraceToWhoeverReceivesIt(t *testing.T) {
	s, traced := new(service), new(spans)
	p := publisher.NewWithConn(s.serve(t), topic)
	p.TracerProvider = traced
	p.PublishSettings = publisher.Thresholds(2, 1e6, 1e12)
	shared := map[string]string{"a": "b"}
	outer, parent := traced.Tracer("").Start(t.Context(), "caller")
	for range 2 {
		p.Publish(outer, &pubsub.Message{Data: []byte("x"), Attributes: shared})
	}
	p.Stop()
	if len(shared) != 1 {
		t.Errorf("the caller's attributes were changed: %v", shared)
	}
	created, sent := traced.named("t create"), traced.named("t publish")
	if len(created) != 2 || len(sent) != 1 || len(sent[0].links) != 2 {
		t.Fatalf("%d messages, %d requests", len(created), len(sent))
	}
	for i, m := range s.taken()[0].Messages {
		want := fmt.Sprintf("00-%s-%s-01", created[i].context.TraceID(), created[i].context.SpanID())
		if m.Attributes["googclient_traceparent"] != want || m.Attributes["a"] != "b" {
			t.Errorf("message %d carries %v, want %s", i, m.Attributes, want)
		}
		if created[i].parent.SpanID() != parent.SpanContext().SpanID() || len(created[i].links) != 1 {
			t.Errorf("message %d: its span hangs below %v and is linked with %v", i, created[i].parent,
				created[i].links)
		}
	}
	for _, n := range traced.made[1:] {
		if !n.ended || n.failed != nil {
			t.Errorf("span %q: ended %v, %v", n.name, n.ended, n.failed)
		}
	}
}

func TestATraceTellsWhatFailed(t *testing.T) {
	s := &service{judge: func(context.Context, *pubsubpb.PublishRequest) error {
		return status.Error(codes.NotFound,
			"no topic")
	}}
	traced := new(spans)
	p := publisher.NewWithConn(s.serve(t), topic)
	p.TracerProvider = traced
	p.Publish(t.Context(), text("x"))
	p.Publish(t.Context(), &pubsub.Message{Attributes: map[string]string{"\xff": ""}})
	p.Stop()
	for _, n := range traced.made {
		failed := n.failed != nil &&
			(strings.Contains(n.failed.Error(), "no topic") || errors.Is(n.failed, publisher.ErrInvalidText))
		if !n.ended || failed != slices.Contains([]string{"t create", "t publish"}, n.name) {
			t.Errorf("span %q: ended %v, %v", n.name, n.ended, n.failed)
		}
	}
}

// TestSpansSayWhatThoseOfGooglesPublisherSay, but for the function of Google's that sends a request.
func TestSpansSayWhatThoseOfGooglesPublisherSay(t *testing.T) {
	before := otel.GetTracerProvider()
	defer otel.SetTracerProvider(before)
	said := func(publish func(*pubsub.Client)) string {
		traced := new(spans)
		otel.SetTracerProvider(traced)
		client, err := pubsub.NewClientWithConfig(t.Context(), "p",
			&pubsub.ClientConfig{EnableOpenTelemetryTracing: true}, option.WithGRPCConn(new(service).serve(t)))
		if err != nil {
			t.Fatal(err)
		}
		publish(client)
		var all []string
		for _, s := range traced.made {
			if s.name == "t publish" {
				delete(s.attributes, "code.function")
			}
			all = append(all, s.String())
		}
		slices.Sort(all)
		return strings.Join(all, "")
	}
	m := func() *pubsub.Message {
		return &pubsub.Message{Data: []byte("hello"), OrderingKey: "k", Attributes: map[string]string{"a": "b"}}
	}
	theirs := said(func(c *pubsub.Client) {
		p := c.Publisher("t")
		p.EnableMessageOrdering = true
		defer p.Stop()
		if _, err := p.Publish(t.Context(), m()).Get(t.Context()); err != nil {
			t.Error(err)
		}
	})
	ours := said(func(c *pubsub.Client) {
		p := publisher.New(c, "t")
		p.EnableMessageOrdering = true
		allGood(t, p.Publish(t.Context(), m()))
		p.Stop()
	})
	if d := cmp.Diff(theirs, ours); d != "" {
		t.Errorf("the spans (- Google's, + ours):\n%s", d)
	}
}

func TestWithoutAValidContextNothingIsCarried(t *testing.T) {
	s := new(service)
	p := publisher.NewWithConn(s.serve(t), topic)
	p.TracerProvider = noop.NewTracerProvider()
	allGood(t, p.Publish(t.Context(), text("x")))
	p.Stop()
	if a := s.taken()[0].Messages[0].Attributes; len(a) != 0 {
		t.Errorf("%v", a)
	}
}
