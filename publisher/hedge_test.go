package publisher_test

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"go.opentelemetry.io/otel"
	"google.golang.org/api/option"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/publisher"
)

func TestASlowRequestIsSentAgainIfAskedFor(t *testing.T) {
	for name, c := range map[string]struct {
		hedging  *pubsub.HedgingSettings
		requests int
	}{"asked": {&pubsub.HedgingSettings{Delay: 100 * time.Millisecond, MaxTokens: 1}, 2}, "not asked": {nil, 1}} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			free := make(chan struct{})
			s := &service{judge: func(ctx context.Context, _ *pubsubpb.PublishRequest) error {
				if calls.Add(1) > 1 {
					return nil
				}
				select { // the first one is slow
				case <-ctx.Done():
					return ctx.Err()
				case <-free:
					return nil
				}
			}}
			p := publisher.NewWithConn(s.serve(t), topic)
			p.PublishSettings.HedgingSettings = c.hedging
			if c.hedging == nil {
				time.AfterFunc(500*time.Millisecond, func() { close(free) })
			}
			allGood(t, p.Publish(t.Context(), text("x")))
			p.Stop()
			if n := calls.Load(); n != int64(c.requests) {
				t.Errorf("%d requests, not %d", n, c.requests)
			}
		})
	}
}

func TestWhatARequestFailsWithIsNotHedged(t *testing.T) {
	s := &service{judge: func(context.Context, *pubsubpb.PublishRequest) error {
		return status.Error(codes.NotFound,
			"no topic")
	}}
	p := publisher.NewWithConn(s.serve(t), topic)
	defer p.Stop()
	p.PublishSettings.HedgingSettings = &pubsub.HedgingSettings{}
	if _, err := p.Publish(t.Context(), text("x")).Get(t.Context()); status.Code(err) != codes.NotFound {
		t.Error(err)
	}
}

func TestHedgingHasGooglesBounds(t *testing.T) {
	s := new(service)
	for name, c := range map[string]struct {
		hedging pubsub.HedgingSettings
		ordered bool
		want    error
	}{
		"order":  {pubsub.HedgingSettings{}, true, publisher.ErrHedgedOrder},
		"delay":  {pubsub.HedgingSettings{Delay: time.Millisecond}, false, publisher.ErrHedging},
		"tokens": {pubsub.HedgingSettings{MaxTokens: 251}, false, publisher.ErrHedging},
		"ratio":  {pubsub.HedgingSettings{RefillRatio: 1}, false, publisher.ErrHedging},
	} {
		p := publisher.NewWithConn(s.serve(t), topic)
		p.PublishSettings.HedgingSettings, p.EnableMessageOrdering = &c.hedging, c.ordered
		if _, err := p.Publish(t.Context(), text("x")).Get(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		p.Stop()
	}
}

// What a program has set of Google's settings is kept, and what it has left as it is does not make messages wait.
func TestSettingsAreTakenFromGoogles(t *testing.T) {
	google := pubsub.DefaultPublishSettings
	if got := publisher.SettingsFrom(google); got != publisher.Defaults() {
		t.Errorf("of the defaults: %+v", got)
	}
	forever := publisher.Defaults()
	forever.Timeout = -1
	if got := publisher.SettingsFrom(pubsub.PublishSettings{CompressionBytesThreshold: 240}); got != forever {
		t.Errorf("of nothing: %+v", got)
	}
	for given, want := range map[pubsub.FlowControlSettings]pubsub.FlowControlSettings{
		{MaxOutstandingMessages: 5}: {MaxOutstandingMessages: 5, MaxOutstandingBytes: math.MaxInt},
		{MaxOutstandingBytes: 5}:    {MaxOutstandingMessages: 1000, MaxOutstandingBytes: 5},
		{LimitExceededBehavior: pubsub.FlowControlBlock}: {MaxOutstandingMessages: 1000,
			MaxOutstandingBytes: math.MaxInt, LimitExceededBehavior: pubsub.FlowControlBlock},
	} {
		google.FlowControlSettings = given
		if got := publisher.SettingsFrom(google).FlowControlSettings; got != want {
			t.Errorf("of %+v: %+v, not %+v", given, got, want)
		}
	}
	hedging := &pubsub.HedgingSettings{Delay: time.Second}
	google = pubsub.PublishSettings{
		DelayThreshold: time.Second, CountThreshold: 7, ByteThreshold: 8, NumGoroutines: 9, Timeout: 10 * time.Second,
		EnableCompression: true, CompressionBytesThreshold: 11, HedgingSettings: hedging,
		FlowControlSettings: pubsub.FlowControlSettings{MaxOutstandingMessages: 12, MaxOutstandingBytes: 13,
			LimitExceededBehavior: pubsub.FlowControlSignalError},
	}
	want := publisher.PublishSettings{
		DelayThreshold: time.Second, CountThreshold: 7, ByteThreshold: 8, NumGoroutines: 9, Timeout: 10 * time.Second,
		EnableCompression: true, CompressionBytesThreshold: 11, HedgingSettings: hedging,
		FlowControlSettings: google.FlowControlSettings,
	}
	if got := publisher.SettingsFrom(google); got != want {
		t.Errorf("%+v\nwanted %+v", got, want)
	}
}

// A client with OpenTelemetry on keeps its spans, all four, when its program changes one line.
func TestAClientThatIsTracedKeepsItsSpans(t *testing.T) {
	traced := new(spans)
	before := otel.GetTracerProvider()
	otel.SetTracerProvider(traced)
	defer otel.SetTracerProvider(before)
	s := new(service)
	for on, want := range map[bool]int{true: 1, false: 0} {
		client, err := pubsub.NewClientWithConfig(t.Context(), "p",
			&pubsub.ClientConfig{EnableOpenTelemetryTracing: on}, option.WithGRPCConn(s.serve(t)))
		if err != nil {
			t.Fatal(err)
		}
		traced.made = nil
		p := publisher.New(client, "t")
		allGood(t, p.Publish(t.Context(), text("x")))
		p.Stop()
		for _, name := range []string{"t create", "publisher flow control", "publisher batching", "t publish"} {
			found := traced.named(name)
			if len(found) != want || want > 0 && !found[0].ended {
				t.Errorf("with tracing %v: %d spans %q", on, len(found), name)
			}
		}
	}
}
