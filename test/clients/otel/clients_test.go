package clients_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hikyaku/hikyaku/internal/waittest"
	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

var built conformance.Built

func TestMain(m *testing.M) { built.Main(m, "otel") }

// serve starts hikyaku with pipelines to a far end, whose requests' traceparent headers come out of heard.
func serve(t *testing.T, otlp string) (s *conformance.Server, heard chan string) {
	t.Helper()
	heard = make(chan string, 100)
	far := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		heard <- r.Header.Get("Traceparent")
	}))
	t.Cleanup(far.Close)
	dir := conformance.Folder(t)
	return conformance.Serve(t, built.Binary, dir, fmt.Sprintf(`data_dir: %s
api:
  http: { listen: 127.0.0.1:0 }
  pubsub: { listen: 127.0.0.1:0 }
  mysql: { off: true }
  sqs: { listen: 127.0.0.1:0 }
  lambda: { off: true }
trace: { otlp: { %s } }
namespaces: { default: [shop, "000000000000"] }
topics: { news: {}, heard: {} }
queues: { orders: {}, seen: {}, readers: { topic: news }, listeners: { topic: heard } }
sources:
  orders: { type: queue, queue: orders }
  readers: { type: queue, queue: readers }
sinks:
  hook: { type: webhook, inputs: [orders, readers], url: "%s" }
`, filepath.Join(dir, "data"), otlp, far.URL), "http"), heard
}

// chain waits until the collector has a trace whose spans follow each other by these names, and returns the last one.
func (c *collector) chain(t *testing.T, names ...string) (last span) {
	t.Helper()
	waittest.Until(t, "the collector has "+strings.Join(names, " > "), func() bool {
		for _, s := range c.all("") {
			if s.Name != names[len(names)-1] {
				continue
			}
			last = s
			at := len(names) - 1
			for up := s; at > 0 && up.Parent != ""; {
				found := false
				for _, p := range c.all(s.Trace) {
					if found = p.ID == up.Parent && strings.HasPrefix(p.Name, names[at-1]); found {
						up = p
						break
					}
				}
				if !found {
					break
				}
				at--
			}
			if at == 0 {
				return true
			}
		}
		return false
	})
	return last
}

// TestATraceOfAPythonProgramGoesThroughToTheFarEnd, whose SDK puts the context into a header; one that is not sampled
// leaves no span.
func TestATraceOfAPythonProgramGoesThroughToTheFarEnd(t *testing.T) {
	c := collect(t)
	server, heard := serve(t, "endpoint: http://"+c.http)
	python := filepath.Join(built.Cache, "python", "bin", "python")
	for _, sampler := range []string{"always_off", "always_on"} {
		cmd := exec.CommandContext(t.Context(), python, "python/put.py",
			"http://"+server.Address+"/default/queues/orders/messages", "http://"+c.http)
		cmd.Env = append(os.Environ(), "OTEL_TRACES_SAMPLER="+sampler, "PYTHONDONTWRITEBYTECODE=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		parent := <-heard
		if sampler == "always_off" {
			if parent != "" {
				t.Errorf("the far end heard %q", parent)
			}
			continue
		}
		last := c.chain(t, "order", "POST", "publish default/orders", "process default/orders", "deliver hook")
		if want := "00-" + last.Trace + "-" + last.ID + "-"; !strings.HasPrefix(parent, want) { // and the flags
			t.Errorf("the far end heard %q, want %q", parent, want)
		}
		if all := c.all(""); len(all) != 5 {
			t.Errorf("%d spans: %v", len(all), all)
		}
	}
}

// TestATraceOfGooglesClientGoesThroughToTheFarEnd, which has the context in an attribute. Spans go over gRPC.
func TestATraceOfGooglesClientGoesThroughToTheFarEnd(t *testing.T) {
	c := collect(t)
	server, heard := serve(t, "endpoint: http://"+c.grpc+", protocol: grpc")
	to, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL("http://"+c.http+"/v1/traces"))
	if err != nil {
		t.Fatal(err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(to))
	defer func() {
		if err := provider.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	client, err := pubsub.NewClientWithConfig(t.Context(), "shop",
		&pubsub.ClientConfig{EnableOpenTelemetryTracing: true},
		option.WithEndpoint(server.Door("pubsub")), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.TopicAdminClient.GetTopic(t.Context(),
		&pubsubpb.GetTopicRequest{Topic: "projects/shop/topics/news"}); err != nil {
		t.Fatal(err)
	}
	publisher := client.Publisher("news")
	defer publisher.Stop()
	if _, err := publisher.Publish(t.Context(), &pubsub.Message{Data: []byte("hello")}).Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := c.chain(t, "news create", "publish default/news", "process default/readers", "deliver hook")
	if want, parent := "00-"+last.Trace+"-"+last.ID+"-", <-heard; !strings.HasPrefix(parent, want) {
		t.Errorf("the far end heard %q, want %q", parent, want)
	}
}
