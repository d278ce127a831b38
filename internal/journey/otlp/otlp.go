package otlp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/hikyaku/hikyaku/internal/away"
	"github.com/hikyaku/hikyaku/internal/journey"
)

// Config says where spans go.
type Config struct {
	// Endpoint is the collector's address, as http://host:4318 or https://…; spans go to /v1/traces below it. "": the
	// variables of the environment that OpenTelemetry's programs have in common say where, and how.
	Endpoint string
	GRPC     bool              // OTLP over gRPC: the endpoint is http(s)://host:4317
	Headers  map[string]string // of every request, for who has to show who he is
	Version  string            // ours
	Env      func(name string) (string, bool)
	// Report is told in the log's place of what is lost, by one goroutine at a time.
	Report func(lost uint64, why error)
}

const (
	maxSpans    = 4096 // that wait to be sent, or are on their way
	maxTogether = 512  // in one request
	gather      = 2 * time.Second
	exportTime  = 10 * time.Second // for one request with its retries
	closeTime   = 3 * time.Second  // for what is left at the end
)

// Exporter sends spans. Its methods may be called from any goroutine.
type Exporter struct {
	sdktrace.SpanExporter
	provider *sdktrace.TracerProvider
	spans    *journey.Spans
	report   func(uint64, error)
	open     context.Context // ends when nothing more is waited for
	end      context.CancelFunc
	under    atomic.Int64
	sent     atomic.Uint64
	lost     atomic.Uint64

	// of the goroutine that exports
	telling away.Telling
	told    uint64
}

// New makes an Exporter, which connects to nobody yet; nil: neither the configuration nor the environment wants one.
func New(ctx context.Context, c Config) (*Exporter, error) {
	client, err := c.client()
	if client == nil || err != nil {
		return nil, err
	}
	e := &Exporter{report: c.Report}
	e.open, e.end = context.WithCancel(context.Background())
	if e.SpanExporter, err = otlptrace.New(ctx, client); err != nil {
		return nil, fmt.Errorf("trace.otlp: %w", err)
	}
	from, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName("hikyaku"),
		semconv.ServiceVersion(c.Version)), resource.WithHost(), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil && from == nil {
		return nil, fmt.Errorf("trace.otlp: %w", err)
	}
	batches := sdktrace.NewBatchSpanProcessor(e, sdktrace.WithMaxQueueSize(maxSpans),
		sdktrace.WithMaxExportBatchSize(maxTogether), sdktrace.WithBatchTimeout(gather),
		sdktrace.WithExportTimeout(exportTime))
	e.provider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(&bounded{batches, e}),
		sdktrace.WithIDGenerator(ids{}), sdktrace.WithResource(from),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.NeverSample())))
	e.spans = journey.NewSpans(e.provider.Tracer("github.com/hikyaku/hikyaku",
		trace.WithSchemaURL(semconv.SchemaURL)))
	return e, nil
}

// Spans are told of hops, which the Exporter sends.
func (e *Exporter) Spans() *journey.Spans {
	if e == nil {
		return nil
	}
	return e.spans
}

// Close sends what is left, if the collector takes it soon.
func (e *Exporter) Close() error {
	if e == nil {
		return nil
	}
	enough := time.AfterFunc(closeTime, e.end)
	defer enough.Stop()
	defer e.end()
	return e.provider.Shutdown(context.Background())
}

// ExportSpans sends a batch. What cannot be sent is lost.
func (e *Exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.open, cancel)()
	err := e.SpanExporter.ExportSpans(ctx, spans)
	e.under.Add(-int64(len(spans)))
	if err != nil {
		e.lost.Add(uint64(len(spans)))
	} else {
		e.sent.Add(uint64(len(spans)))
	}
	if lost := e.lost.Load(); lost > e.told && e.telling.Due(time.Now()) {
		e.report(lost-e.told, err)
		e.told = lost
	}
	return nil
}

// bounded takes no more spans than there is room for, and counts the others.
type bounded struct {
	sdktrace.SpanProcessor
	e *Exporter
}

func (b *bounded) OnEnd(s sdktrace.ReadOnlySpan) {
	if b.e.under.Add(1) > maxSpans {
		b.e.under.Add(-1)
		b.e.lost.Add(1)
		return
	}
	b.SpanProcessor.OnEnd(s)
}

// ids gives spans the ids that their contexts want.
type ids struct{}

func (ids) NewIDs(ctx context.Context) (of trace.TraceID, id trace.SpanID) {
	for i := range of {
		of[i] = byte(rand.Uint32())
	}
	return of, ids{}.NewSpanID(ctx, of)
}

func (ids) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	id, _ := journey.SpanID(ctx)
	return id
}

// CheckEndpoint tells what is wrong with an Endpoint.
func CheckEndpoint(text string) error {
	_, err := parse(text)
	return err
}

func parse(endpoint string) (*url.URL, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" {
		return nil, errors.New("is not http://host:port or https://host:port")
	}
	return u, nil
}

// client is the way to the collector; nil: there is none.
func (c *Config) client() (otlptrace.Client, error) {
	if c.Endpoint == "" {
		return c.clientOfEnv()
	}
	u, err := parse(c.Endpoint)
	if err != nil {
		return nil, err
	}
	headers := c.Headers
	if headers == nil {
		headers = map[string]string{} // not those of the environment
	}
	if c.GRPC {
		return otlptracegrpc.NewClient(otlptracegrpc.WithEndpointURL(c.Endpoint),
			otlptracegrpc.WithHeaders(headers)), nil
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + "/v1/traces"
	return otlptracehttp.NewClient(otlptracehttp.WithEndpointURL(u.String()), otlptracehttp.WithHeaders(headers)), nil
}

// clientOfEnv is the one that the environment wants, which the library reads itself.
func (c *Config) clientOfEnv() (otlptrace.Client, error) {
	of := func(name string) string {
		v, _ := c.Env(name)
		return strings.TrimSpace(v)
	}
	or := func(name, general string) string {
		if v := of(name); v != "" {
			return v
		}
		return of(general)
	}
	switch {
	case or("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT") == "",
		strings.EqualFold(of("OTEL_SDK_DISABLED"), "true"), of("OTEL_TRACES_EXPORTER") == "none":
		return nil, nil
	case or("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL") == "grpc":
		return otlptracegrpc.NewClient(), nil
	}
	return otlptracehttp.NewClient(), nil
}
