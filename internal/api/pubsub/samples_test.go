package pubsub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	client "cloud.google.com/go/pubsub/v2"
	apiv1 "cloud.google.com/go/pubsub/v2/apiv1"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"github.com/googleapis/gax-go/v2"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"
	"google.golang.org/grpc/codes"

	"github.com/hikyaku/hikyaku/publisher"
)

// sample is a small program that makes the calls of some of Google's samples for Go, with our publisher in the place of
// Google's. What it writes otherwise than those is the line with publisher.New, and what docs/pubsub.md names.
type sample struct {
	of       []string // files of Google's
	settings *pubsubpb.SchemaSettings
	run      func(ctx context.Context, c *client.Client) error
	config   *client.ClientConfig
	messages []*pubsubpb.PubsubMessage // that have to be there then, as far as they are described
	ordered  bool
}

// TestGooglesSamplesPublishWithOurPublisher is what the table of docs/pubsub.md says of them, against the door.
func TestGooglesSamplesPublishWithOurPublisher(t *testing.T) {
	tracer := new(spanNames)
	otel.SetTracerProvider(tracer)
	t.Cleanup(func() { otel.SetTracerProvider(noop.NewTracerProvider()) })
	for i, s := range samples() {
		t.Run(fmt.Sprint(s.of), func(t *testing.T) {
			r := newRig(t)
			t.Setenv("PUBSUB_EMULATOR_HOST", r.addr)
			if s.settings != nil {
				r.state(s.settings.Schema)
			}
			must(r.pub.CreateTopic(t.Context(), &pubsubpb.Topic{Name: topicName("news"), SchemaSettings: s.settings}))
			r.subscribeTo("news", "news", func(to *pubsubpb.Subscription) { to.EnableMessageOrdering = s.ordered })
			c, err := client.NewClientWithConfig(t.Context(), "local", s.config)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.run(t.Context(), c); err != nil {
				t.Error(err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			var got, want []string
			for _, m := range r.pull("news", 1000) {
				got = append(got, described(m.Message))
			}
			for _, m := range s.messages {
				want = append(want, described(m))
			}
			if !s.ordered {
				slices.Sort(got)
				slices.Sort(want)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d: it published\n%q, want\n%q", i, got, want)
			}
		})
	}
	for _, name := range []string{"news create", "publisher flow control", "publisher batching", "news publish"} {
		if !slices.Contains(tracer.names, name) {
			t.Errorf("there is no span %q among %q", name, tracer.names)
		}
	}
}

// described is a message as its publisher made it.
func described(m *pubsubpb.PubsubMessage) string {
	own := map[string]string{}
	for k, v := range m.Attributes {
		if !strings.HasPrefix(k, "googclient_") { // of the trace, and of the schema
			own[k] = v
		}
	}
	return fmt.Sprintf("%s %v %s", m.Data, own, m.OrderingKey)
}

// spanNames is a provider whose tracer notes what its spans are called.
type spanNames struct {
	embedded.TracerProvider
	mu    sync.Mutex
	names []string
}

func (s *spanNames) Tracer(string, ...trace.TracerOption) trace.Tracer { return namer{of: s} }

type namer struct {
	noop.Tracer
	of *spanNames
}

func (n namer) Start(ctx context.Context, name string, o ...trace.SpanStartOption) (context.Context, trace.Span) {
	n.of.mu.Lock()
	defer n.of.mu.Unlock()
	n.of.names = append(n.of.names, name)
	return n.Tracer.Start(ctx, name, o...)
}

// state makes a schema of a record with a text, of the type that is its name.
func (r *rig) state(name string) {
	r.t.Helper()
	id := name[strings.LastIndexByte(name, '/')+1:]
	definition := `{"type": "record", "name": "State", "fields": [{"name": "value", "type": "string"}]}`
	kind := pubsubpb.Schema_AVRO
	if id == "proto" {
		definition, kind = `syntax = "proto3"; message State { string value = 1; }`, pubsubpb.Schema_PROTOCOL_BUFFER
	}
	must(r.schemaClient().CreateSchema(r.t.Context(), &pubsubpb.CreateSchemaRequest{
		Parent: "projects/local", SchemaId: id, Schema: &pubsubpb.Schema{Type: kind, Definition: definition},
	}))
}

func samples() []sample {
	said := func(texts ...string) (all []*pubsubpb.PubsubMessage) {
		for _, t := range texts {
			all = append(all, &pubsubpb.PubsubMessage{Data: []byte(t)})
		}
		return all
	}
	numbered := func(n int, key string) (all []*pubsubpb.PubsubMessage) {
		for i := range n {
			all = append(all, &pubsubpb.PubsubMessage{Data: fmt.Append(nil, "message ", i), OrderingKey: key})
		}
		return all
	}
	long := string(make([]byte, 5000))
	return []sample{{
		of: []string{"topics/publish.go"}, messages: said("hello"),
		run: func(ctx context.Context, c *client.Client) error {
			p := publisher.New(c, "news")
			defer p.Stop()
			result := p.Publish(ctx, &client.Message{Data: []byte("hello")})
			_, err := result.Get(ctx)
			return err
		},
	}, {
		of: []string{"topics/publish_single.go"}, messages: said("hello"),
		run: func(ctx context.Context, c *client.Client) error {
			p := publisher.New(c, "news")
			defer p.Stop()
			p.PublishSettings.NumGoroutines = 1
			_, err := p.Publish(ctx, &client.Message{Data: []byte("hello")}).Get(ctx)
			return err
		},
	}, {
		of: []string{"topics/publish_custom.go"},
		messages: []*pubsubpb.PubsubMessage{{Data: []byte("hello"), Attributes: map[string]string{
			"origin": "golang", "username": "gcp"}}},
		run: func(ctx context.Context, c *client.Client) error {
			p := publisher.New(c, "news")
			defer p.Stop()
			_, err := p.Publish(ctx, &client.Message{Data: []byte("hello"), Attributes: map[string]string{
				"origin": "golang", "username": "gcp"}}).Get(ctx)
			return err
		},
	}, {
		of: []string{"topics/publish_scale.go"}, messages: numbered(100, ""),
		run: func(ctx context.Context, c *client.Client) error {
			p := publisher.New(c, "news")
			defer p.Stop()
			return results(ctx, p, 100, "")
		},
	}, {
		of: []string{"topics/publish_settings.go"}, messages: numbered(25, ""),
		run: func(ctx context.Context, c *client.Client) error {
			p := publisher.New(c, "news")
			defer p.Stop()
			p.PublishSettings.ByteThreshold = 5000
			p.PublishSettings.CountThreshold = 10
			p.PublishSettings.DelayThreshold = 100 * time.Millisecond
			began := time.Now()
			err := results(ctx, p, 25, "")
			if took := time.Since(began); took < p.PublishSettings.DelayThreshold {
				return fmt.Errorf("the last five messages have waited for %v", took)
			}
			return err
		},
	}, {
		of: []string{"topics/publish_flow_control.go"}, messages: numbered(200, ""),
		run: func(ctx context.Context, c *client.Client) error {
			p := publisher.New(c, "news") // a variable publisher would hide the package
			defer p.Stop()
			p.PublishSettings.FlowControlSettings = client.FlowControlSettings{
				MaxOutstandingMessages: 100,
				MaxOutstandingBytes:    10 << 20,
				LimitExceededBehavior:  client.FlowControlBlock,
			}
			return results(ctx, p, 200, "")
		},
	}, {
		of: []string{"topics/publish_retry.go"}, messages: said("hello"),
		config: &client.ClientConfig{TopicAdminCallOptions: &apiv1.TopicAdminCallOptions{Publish: []gax.CallOption{
			gax.WithRetry(func() gax.Retryer {
				return gax.OnCodes([]codes.Code{codes.Aborted, codes.Unavailable},
					gax.Backoff{Initial: 250 * time.Millisecond, Max: time.Minute, Multiplier: 1.45})
			})}}},
		run: func(ctx context.Context, c *client.Client) error {
			p := publisher.New(c, "news")
			defer p.Stop()
			_, err := p.Publish(ctx, &client.Message{Data: []byte("hello")}).Get(ctx)
			return err
		},
	}, {
		of: []string{"topics/publish_with_compression.go"}, messages: said(long),
		run: func(ctx context.Context, c *client.Client) error {
			p := publisher.New(c, "news")
			defer p.Stop()
			p.PublishSettings.EnableCompression = true
			p.PublishSettings.CompressionBytesThreshold = 10
			_, err := p.Publish(ctx, &client.Message{Data: []byte(long)}).Get(ctx)
			return err
		},
	}, {
		of: []string{"topics/publish_ordering.go"}, messages: numbered(20, "key1"), ordered: true,
		run: func(ctx context.Context, c *client.Client) error {
			p := publisher.New(c, "news")
			defer p.Stop()
			p.EnableMessageOrdering = true
			return results(ctx, p, 20, "key1")
		},
	}, {
		of: []string{"topics/publish_resume_ordering.go"}, ordered: true,
		messages: []*pubsubpb.PubsubMessage{{Data: []byte("hello"), OrderingKey: "key1"}},
		run: func(ctx context.Context, c *client.Client) error {
			p := publisher.New(c, "news")
			defer p.Stop()
			p.EnableMessageOrdering = true
			refused := &client.Message{OrderingKey: "key1"} // nothing at all
			if _, err := p.Publish(ctx, refused).Get(ctx); err == nil {
				return errors.New("an empty message was published")
			}
			message := &client.Message{Data: []byte("hello"), OrderingKey: "key1"}
			if _, err := p.Publish(ctx, message).Get(ctx); err == nil {
				return errors.New("the key was not paused")
			}
			p.ResumePublish("key1")
			_, err := p.Publish(ctx, message).Get(ctx)
			return err
		},
	}, {
		of: []string{"topics/publish_otel_tracing.go"}, messages: said("hello"),
		config: &client.ClientConfig{EnableOpenTelemetryTracing: true},
		run: func(ctx context.Context, c *client.Client) error {
			p := publisher.New(c, "news")
			defer p.Stop()
			_, err := p.Publish(ctx, &client.Message{Data: []byte("hello")}).Get(ctx)
			return err
		},
	}, {
		of:       []string{"schemas/publish_avro_records.go", "as JSON"},
		settings: &pubsubpb.SchemaSettings{Schema: avro, Encoding: pubsubpb.Encoding_JSON},
		messages: said(stateJSON), run: publishState("\x0cAlaska"),
	}, {
		of:       []string{"schemas/publish_avro_records.go", "as binary"},
		settings: &pubsubpb.SchemaSettings{Schema: avro, Encoding: pubsubpb.Encoding_BINARY},
		messages: said("\x0cAlaska"), run: publishState("\x0cAlaska"),
	}, {
		of:       []string{"schemas/publish_proto_messages.go", "as JSON"},
		settings: &pubsubpb.SchemaSettings{Schema: protobuf, Encoding: pubsubpb.Encoding_JSON},
		messages: said(stateJSON), run: publishState("\n\x06Alaska"),
	}, {
		of:       []string{"schemas/publish_proto_messages.go", "as binary"},
		settings: &pubsubpb.SchemaSettings{Schema: protobuf, Encoding: pubsubpb.Encoding_BINARY},
		messages: said("\n\x06Alaska"), run: publishState("\n\x06Alaska"),
	}}
}

const (
	avro      = "projects/local/schemas/avro"
	protobuf  = "projects/local/schemas/proto"
	stateJSON = `{"value":"Alaska"}`
)

// results publishes messages, and waits for the result of each in a goroutine of its own.
func results(ctx context.Context, p *publisher.Publisher, n int, key string) error {
	var waiting sync.WaitGroup
	failed := make(chan error, n)
	for i := range n {
		result := p.Publish(ctx, &client.Message{Data: fmt.Append(nil, "message ", i), OrderingKey: key})
		waiting.Add(1)
		go func(res *publisher.PublishResult) {
			defer waiting.Done()
			if _, err := res.Get(ctx); err != nil {
				failed <- err
			}
		}(result)
	}
	waiting.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// publishState asks the topic how its messages are encoded.
func publishState(binary string) func(context.Context, *client.Client) error {
	return func(ctx context.Context, c *client.Client) error {
		t, err := c.TopicAdminClient.GetTopic(ctx, &pubsubpb.GetTopicRequest{Topic: topicName("news")})
		if err != nil {
			return err
		}
		data := stateJSON
		if t.SchemaSettings.Encoding == pubsubpb.Encoding_BINARY {
			data = binary
		}
		p := publisher.New(c, "news")
		defer p.Stop()
		_, err = p.Publish(ctx, &client.Message{Data: []byte(data)}).Get(ctx)
		return err
	}
}
