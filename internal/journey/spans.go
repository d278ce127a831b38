package journey

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Spans tells a tracer of the hops of those messages whose senders want to see them: that the flag of their context
// says. A nil *Spans tells of none. Of the others it costs a look for a context; nothing of it is done under a lock of
// who calls.
type Spans struct {
	tracer trace.Tracer
	held   [shares]held
	lost   atomic.Uint64
}

// held are messages in the hands of readers.
type held struct {
	n  atomic.Int32
	mu sync.Mutex
	of map[holding]claimed
}

type holding struct {
	id message.ID
	at Place
}

type claimed struct {
	parent, self trace.SpanContext
	time         int64
	by           string
	attempt      int
}

// maxHeld is how many of them a part of Spans remembers: 64 times as many in all, some 20 MB.
const maxHeld = 1024

// NewSpans makes one that tells a tracer, which gives spans the ids of SpanID.
func NewSpans(t trace.Tracer) *Spans { return &Spans{tracer: t} }

// Lost is of how many hops it was not told how they ended: more messages were in readers' hands than are remembered.
func (s *Spans) Lost() uint64 { return s.lost.Load() }

// Carry gives a message that carries no context of its own that of the request which brought it, read from two headers,
// if its sender wants to see spans.
func (s *Spans) Carry(m *message.Message, parent, state string) {
	if s == nil || !mayBeSampled(parent) || contextOf(m.Attributes, false).IsValid() {
		return
	}
	if c := (&fields{parent, state}).read(); c.IsValid() {
		keep(&m.Attributes, c)
	}
}

// keep lets attributes have a context as ours.
func keep(as *message.Attributes, c trace.SpanContext) {
	f := write(c)
	as.Set(Parent, message.String(f.parent))
	if as.Delete(State); f.state != "" {
		as.Set(State, message.String(f.state))
	}
}

// putOf is the context of a message's put; it is not valid if nobody wants to see it.
func putOf(m *message.Message, id *message.ID) trace.SpanContext {
	c := contextOf(m.Attributes, true)
	if !c.IsValid() {
		return c
	}
	return below(c, id, Place{}, 0)
}

// Put tells of a message that is durable in a queue or topic, under an id, since ended.
func (s *Spans) Put(m *message.Message, id message.ID, to Place, by string, ended int64) {
	if s == nil {
		return
	}
	c := contextOf(m.Attributes, true)
	if !c.IsValid() {
		return
	}
	s.tell(&span{parent: c, self: below(c, &id, Place{}, 0), kind: trace.SpanKindProducer, what: "publish",
		op: semconv.MessagingOperationTypeSend, id: id, at: to, by: by,
		began: cmp.Or(m.Hops[message.Accepted], ended), ended: ended})
}

// Claimed tells that somebody has a message of a queue. Whoever has it is shown when it leaves him.
func (s *Spans) Claimed(m *message.Message, from Place, by string, attempt int) {
	if s == nil {
		return
	}
	parent := putOf(m, &m.ID)
	if !parent.IsValid() {
		return
	}
	h, k := s.part(&m.ID), holding{m.ID, from}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of == nil {
		h.of = map[holding]claimed{}
	}
	for other := range h.of { // any of them
		if len(h.of) < maxHeld {
			break
		}
		delete(h.of, other)
		s.lost.Add(1)
	}
	h.of[k] = claimed{parent: parent, self: below(parent, &m.ID, from, m.Hops[message.Claimed]),
		time: m.Hops[message.Claimed], by: by, attempt: attempt}
	h.n.Store(int32(len(h.of)))
}

// Left tells that a claim is over, and how: n is of the step that ended it.
func (s *Spans) Left(n *Note) {
	if s == nil {
		return
	}
	h := s.part(&n.ID)
	if h.n.Load() == 0 {
		return
	}
	k := holding{n.ID, n.Place}
	h.mu.Lock()
	c, ok := h.of[k]
	delete(h.of, k)
	h.n.Store(int32(len(h.of)))
	h.mu.Unlock()
	if !ok {
		return
	}
	sp := &span{parent: c.parent, self: c.self, kind: trace.SpanKindConsumer, what: "process",
		op: semconv.MessagingOperationTypeProcess, id: n.ID, at: n.Place, by: c.by, attempt: c.attempt,
		outcome: n.Kind.String(), began: c.time, ended: n.Time}
	if n.Kind == Dead {
		sp.failed = cmp.Or(n.Text, n.Kind.String())
	}
	s.tell(sp)
}

func (s *Spans) part(id *message.ID) *held { return &s.held[id[15]%shares] }

// span is what is told of a hop.
type span struct {
	parent, self    trace.SpanContext
	kind            trace.SpanKind
	what            string
	op              attribute.KeyValue
	id              message.ID
	at              Place
	by              string
	attempt         int
	outcome, failed string
	began, ended    int64
}

// tell makes the span. What it is told of others' texts is as long as in a journey at most.
func (s *Spans) tell(p *span) {
	name := p.at.Name
	if p.at.Namespace != "" {
		name = p.at.Namespace + "/" + name
	}
	as := []attribute.KeyValue{semconv.MessagingSystemKey.String("hikyaku"), semconv.MessagingDestinationName(name),
		semconv.MessagingMessageID(p.id.String()), semconv.MessagingOperationName(p.what), p.op}
	if p.by != "" {
		as = append(as, attribute.String("hikyaku.by", p.by))
	}
	if p.attempt > 0 {
		as = append(as, attribute.Int("hikyaku.attempt", p.attempt))
	}
	if p.outcome != "" {
		as = append(as, attribute.String("hikyaku.outcome", p.outcome))
	}
	ctx := context.WithValue(context.Background(), wanted{}, p.self.SpanID())
	_, made := s.tracer.Start(trace.ContextWithRemoteSpanContext(ctx, p.parent), p.what+" "+name,
		trace.WithTimestamp(time.Unix(0, p.began)), trace.WithSpanKind(p.kind), trace.WithAttributes(as...))
	if p.failed != "" {
		made.SetStatus(codes.Error, message.Shorten(p.failed, MaxText))
	}
	made.End(trace.WithTimestamp(time.Unix(0, max(p.began, p.ended))))
}
