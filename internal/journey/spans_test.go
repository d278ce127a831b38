package journey

import (
	"context"
	"fmt"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/hikyaku/hikyaku/internal/message"
)

// wantedIDs gives spans the ids that they are to have.
type wantedIDs struct{ t *testing.T }

func (w wantedIDs) NewIDs(context.Context) (trace.TraceID, trace.SpanID) {
	w.t.Error("a trace was begun")
	return trace.TraceID{1}, trace.SpanID{1}
}

func (w wantedIDs) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	id, ok := SpanID(ctx)
	if !ok {
		w.t.Error("a span has no id")
	}
	return id
}

// record makes Spans, and a way to read what they have told.
func record(t *testing.T) (*Spans, func() tracetest.SpanStubs) {
	t.Helper()
	to := tracetest.NewInMemoryExporter()
	p := sdktrace.NewTracerProvider(sdktrace.WithSyncer(to), sdktrace.WithIDGenerator(wantedIDs{t}),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.NeverSample())))
	return NewSpans(p.Tracer("test")), to.GetSpans
}

const (
	traceID = "0af7651916cd43dd8448eb211c80319c"
	callers = "b7ad6b7169203331"
	sampled = "00-" + traceID + "-" + callers + "-01"
)

var (
	orders = Place{"default", "orders"}
	hook   = Place{Name: "hook"}
)

// carrying makes a message with attributes, by pairs of names and values.
func carrying(pairs ...string) *message.Message {
	m := &message.Message{ID: message.NewID()}
	for i := 0; i < len(pairs); i += 2 {
		m.Attributes.Set(pairs[i], message.String(pairs[i+1]))
	}
	m.Hops[message.Accepted], m.Hops[message.Claimed] = 1000, 5000
	return m
}

// travel lets a message pass all hops, and returns the headers that its far end saw.
func travel(s *Spans, m *message.Message) (parent, state string) {
	s.Put(m, m.ID, orders, "http", 2000)
	s.Claimed(m, orders, "source in", 1)
	g := s.Sending(m, orders)
	s.Sent(&g, &Note{ID: m.ID, Place: hook, Time: 8000, For: 2000, Attempt: 1, Text: "delivered"}, false)
	s.Left(&Note{ID: m.ID, Kind: Done, Place: orders, Time: 9000})
	return g.Headers()
}

func TestEveryHopIsAChildOfTheOneBefore(t *testing.T) {
	for _, name := range []string{"traceparent", "googclient_traceparent", Parent} {
		t.Run(name, func(t *testing.T) {
			s, told := record(t)
			m := carrying(name, sampled, strings.Replace(name, "parent", "state", 1), "a=b")
			parent, state := travel(s, m)
			got := told()
			var all []string
			for _, sp := range got {
				all = append(all, fmt.Sprint(sp.Name, " ", sp.SpanKind, " ", sp.EndTime.Sub(sp.StartTime)))
				if sp.SpanContext.TraceID().String() != traceID || sp.SpanContext.TraceState().String() != "a=b" {
					t.Errorf("%s: %+v", sp.Name, sp.SpanContext)
				}
			}
			want := "publish default/orders producer 1µs, deliver hook client 2µs, process default/orders consumer 4µs"
			if text := strings.Join(all, ", "); text != want {
				t.Fatalf("got  %s\nwant %s", text, want)
			}
			put, sent, process := got[0], got[1], got[2]
			if put.Parent.SpanID().String() != callers || process.Parent.SpanID() != put.SpanContext.SpanID() ||
				sent.Parent.SpanID() != process.SpanContext.SpanID() {
				t.Errorf("%v", got)
			}
			want = "00-" + traceID + "-" + sent.SpanContext.SpanID().String() + "-01"
			if parent != want || state != "a=b" {
				t.Errorf("the far end sees %q, %q; want %q", parent, state, want)
			}
		})
	}
}

func TestNothingIsToldOfOtherMessages(t *testing.T) {
	for _, parent := range []string{
		"", "x", "00-" + traceID + "-" + callers + "-00", "00-" + traceID + "-" + callers + "-0a",
		"00-" + traceID + "-0000000000000000-01", "00-" + strings.Repeat("0", 32) + "-" + callers + "-01",
		"ff-" + traceID + "-" + callers + "-01", "00-" + strings.ToUpper(traceID) + "-" + callers + "-01",
		sampled + "-x", sampled[:54],
	} {
		s, told := record(t)
		s.Carry(carrying(), parent, "")
		goesOn, _ := travel(s, carrying("traceparent", parent))
		if got := told(); len(got) > 0 {
			t.Errorf("%q: %d spans", parent, len(got))
		}
		if unsampled := strings.HasSuffix(parent, "-00"); unsampled != (goesOn == parent && parent != "") {
			t.Errorf("%q went on as %q", parent, goesOn)
		}
	}
	travel(nil, carrying("traceparent", sampled)) // nobody listens
}

func TestAHeaderIsKeptWhereTheMessageHasNothing(t *testing.T) {
	s, _ := record(t)
	other := strings.Replace(sampled, callers, "00f067aa0ba902b7", 1)
	m := carrying("lang", "ja")
	s.Carry(m, sampled, "a=b")
	if c := contextOf(m.Attributes, true); c.SpanID().String() != callers || c.TraceState().String() != "a=b" {
		t.Errorf("%v", m.Attributes)
	}
	own := carrying("googclient_traceparent", other)
	s.Carry(own, sampled, "")
	none := carrying()
	s.Carry(none, strings.TrimSuffix(sampled, "1")+"0", "")
	long := carrying()
	s.Carry(long, sampled, "a="+strings.Repeat("b", maxState))
	if len(own.Attributes) != 1 || len(none.Attributes) != 0 || len(long.Attributes) != 1 {
		t.Errorf("%v; %v; %v", own.Attributes, none.Attributes, long.Attributes)
	}
	for _, a := range m.Attributes {
		if Hidden(a.Name) == (a.Name == "lang") {
			t.Errorf("Hidden(%q) = %v", a.Name, Hidden(a.Name))
		}
	}
}

func TestAMessageThatIsPutAgainGoesOnFromItsWay(t *testing.T) {
	s, told := record(t)
	m := carrying("traceparent", sampled)
	g := s.Sending(m, orders)
	s.Sent(&g, &Note{ID: m.ID, Place: hook, Text: "delivered"}, false)
	again := *m
	g.Keep(&again.Attributes)
	s.Put(&again, m.ID, Place{"default", "next"}, "", 2000)
	if got := told(); len(got) != 2 || got[1].Parent.SpanID() != got[0].SpanContext.SpanID() {
		t.Errorf("%v", got)
	}
	if len(m.Attributes) != 1 {
		t.Errorf("the message given was changed: %v", m.Attributes)
	}
	want := "Root=1-0af76519-16cd43dd8448eb211c80319c;Parent=" + g.self.SpanID().String() + ";Sampled=1"
	if g.XRay() != want {
		t.Errorf("%q, want %q", g.XRay(), want)
	}
}

func TestAClaimThatEndsBadlyIsAnErrorAndIsToldOnce(t *testing.T) {
	s, told := record(t)
	m := carrying("traceparent", sampled)
	s.Claimed(m, orders, "", 3)
	for range 2 {
		s.Left(&Note{ID: m.ID, Kind: Dead, Place: orders, Time: 9000, Text: strings.Repeat("x", 2*MaxText)})
	}
	got := told()
	if len(got) != 1 || got[0].Status.Code.String() != "Error" || len(got[0].Status.Description) > MaxText+len("…") {
		t.Errorf("%v", got)
	}
}

func TestWhatIsInHandsIsBounded(t *testing.T) {
	s, told := record(t)
	var last *message.Message
	for range maxHeld + 10 {
		last = carrying("traceparent", sampled)
		last.ID[15] = 0
		s.Claimed(last, orders, "", 1)
	}
	if n := len(s.held[0].of); n != maxHeld || s.Lost() != 10 {
		t.Errorf("%d are held and %d lost", n, s.Lost())
	}
	s.Left(&Note{ID: last.ID, Kind: Done, Place: orders})
	if len(told()) != 1 || int(s.held[0].n.Load()) != maxHeld-1 {
		t.Error("the newest was not told")
	}
}

// TestOtherMessagesCostNoMemory, with attributes of their own, while one that is traced is in somebody's hands.
func TestOtherMessagesCostNoMemory(t *testing.T) {
	s, _ := record(t)
	held := carrying("traceparent", sampled)
	s.Claimed(held, orders, "", 1)
	m := carrying("lang", "ja", "size", "large")
	m.ID[15] = held.ID[15]
	if n := testing.AllocsPerRun(100, func() { travel(s, m) }); n > 0 {
		t.Errorf("%v allocations a message", n)
	}
}
