package pipeline

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	trace "github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
	queuesink "github.com/hikyaku/hikyaku/internal/sink/queue"
	"github.com/hikyaku/hikyaku/internal/sink/webhook"
	queuesource "github.com/hikyaku/hikyaku/internal/source/queue"
)

// wantedIDs gives spans the ids that they are to have.
type wantedIDs struct{}

func (wantedIDs) NewIDs(context.Context) (oteltrace.TraceID, oteltrace.SpanID) {
	panic("a trace was begun")
}

func (wantedIDs) NewSpanID(ctx context.Context, _ oteltrace.TraceID) oteltrace.SpanID {
	id, _ := trace.SpanID(ctx)
	return id
}

// TestATraceGoesThroughTopicQueueSinkAndQueueToTheFarEnd, which answers 500 once: each hop is a child of the one
// before.
func TestATraceGoesThroughTopicQueueSinkAndQueueToTheFarEnd(t *testing.T) {
	to := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(to), sdktrace.WithIDGenerator(wantedIDs{}),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.NeverSample())))
	traced := trace.New(trace.Options{Spans: trace.NewSpans(provider.Tracer("test"))})
	j, err := file.Open(t.Context(), file.Options{Dir: t.TempDir(), Durability: journal.OS})
	if err != nil {
		t.Fatal(err)
	}
	store, err := queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true, Trace: traced})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(store.Close(), j.Close()); err != nil {
			t.Error(err)
		}
	}()
	topic := queue.Name{Namespace: "default", Name: "news"}
	if _, err := store.CreateTopic(t.Context(), topic, nil); err != nil {
		t.Fatal(err)
	}
	first := queue.Name{Namespace: "default", Name: "first"}
	if _, err := store.CreateQueue(t.Context(), first, queue.Definition{Topic: topic.String()}); err != nil {
		t.Fatal(err)
	}

	var mu sync.Mutex
	var heard []string
	refused := false // the first one that is traced
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, r.Header.Get("Traceparent"))
		if !refused && strings.HasSuffix(heard[len(heard)-1], "-01") {
			refused = true
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer far.Close()
	env := component.Env{Store: store}
	made := func(c any, err error) any {
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	source := func(name string) component.Source {
		return made(queuesource.New(queuesource.Config{Queue: name}, env)).(component.Source)
	}
	p, err := New([]Node{
		{Name: "a", Source: source("first"), Drains: []string{"default/first"}},
		{Name: "on", Inputs: []string{"a"}, Feeds: []string{"default/second"},
			Sink: made(queuesink.New(queuesink.Config{Queue: "second"}, env)).(component.Sink)},
		{Name: "b", Source: source("second"), Drains: []string{"default/second"}},
		{Name: "hook", Inputs: []string{"b"},
			Sink: made(webhook.New(webhook.Config{URL: far.URL}, env)).(component.Sink)},
	}, Options{Store: store, Finite: true, Trace: traced, Rand: func() float64 { return 0 }})
	if err != nil {
		t.Fatal(err)
	}

	const callers = "b7ad6b7169203331"
	const parent = "00-0af7651916cd43dd8448eb211c80319c-" + callers
	for _, flags := range []string{"-01", "-00"} {
		m := message.Message{}
		m.Attributes.Set("traceparent", message.String(parent+flags))
		if _, err := store.Publish(t.Context(), topic, []message.Message{m}); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := p.Run(t.Context()); err != nil || r.Delivered != 4 {
		t.Fatalf("%+v, %v", r, err)
	}

	names := map[string]string{}
	for _, s := range to.GetSpans() {
		names[s.SpanContext.SpanID().String()] = s.Name
	}
	names[callers] = "caller"
	var got []string
	for _, s := range to.GetSpans() {
		failed := strings.Replace(s.Status.Code.String(), "Unset", "", 1)
		got = append(got, names[s.Parent.SpanID().String()]+" > "+s.Name+" "+failed)
	}
	for _, want := range []string{
		"caller > publish default/news ", "publish default/news > process default/first ",
		"process default/first > deliver on ", "deliver on > publish default/second ",
		"publish default/second > process default/second ", "process default/second > deliver hook Error",
		"process default/second > deliver hook ",
	} {
		if n := strings.Count("\n"+strings.Join(got, "\n")+"\n", "\n"+want+"\n"); n != 1 {
			t.Errorf("%d times %q", n, want)
		}
	}
	if len(got) != 7 {
		t.Errorf("%d spans:\n%s", len(got), strings.Join(got, "\n"))
	}
	mu.Lock()
	defer mu.Unlock()
	for _, h := range heard {
		if id := strings.Split(h+"---", "-")[2]; names[id] != "deliver hook" && h != parent+"-00" {
			t.Errorf("the far end heard %q", h)
		}
	}
	if len(heard) != 3 {
		t.Errorf("the far end heard %q", heard)
	}
}
