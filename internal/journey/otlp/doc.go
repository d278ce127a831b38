// Package otlp sends spans to a collector of OpenTelemetry: over HTTP or gRPC, in batches, behind all work. A collector
// that is away or slow costs spans, which are counted and told, and nothing else.
//
//	e, err := otlp.New(ctx, otlp.Config{Endpoint: "http://127.0.0.1:4318", Report: report})
//	store := journey.New(journey.Options{Spans: e.Spans()})
//	defer e.Close()
package otlp
