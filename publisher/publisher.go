package publisher

import (
	"context"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"cloud.google.com/go/pubsub/v2"
	apiv1 "cloud.google.com/go/pubsub/v2/apiv1"
	"github.com/googleapis/gax-go/v2"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
)

// A Publisher publishes messages to one topic. Its methods may be called from any goroutine; its fields are set before
// the first Publish. Stop it when it is no longer needed: until then it may hold messages, and has a goroutine that
// waits for them.
type Publisher struct {
	// PublishSettings say how messages are grouped and sent. A new Publisher has those of Defaults.
	PublishSettings PublishSettings
	// EnableMessageOrdering lets messages have an OrderingKey. Those of one key reach the service in the order in which
	// they were published: one request of a key is on its way at a time, and after a failure nothing of that key is
	// sent before ResumePublish.
	EnableMessageOrdering bool
	// TracerProvider, if there is one, gets a span of each message and of each request, and each message carries the
	// context of its span as an attribute, under the name that Google's subscribers look for. Spans are named as the
	// Google publisher names them.
	TracerProvider trace.TracerProvider

	topic      string
	out        *sender
	dispatcher *dispatcher

	settled atomic.Bool // the settings were taken, by the first Publish
	mu      sync.Mutex  // while they are
	tracer  tracer
	wrong   error // with the settings
}

// New returns a Publisher for a topic, which is an id in the client's project or a full name. It is what
// client.Publisher is in the Google library: the client's connections, credentials and retry settings are used. Of a
// client with EnableOpenTelemetryTracing the publisher has the global TracerProvider.
func New(client *pubsub.Client, topicNameOrID string) *Publisher {
	name := topicNameOrID
	if strings.Count(name, "/") != 3 {
		name = "projects/" + client.Project() + "/topics/" + name
	}
	p := NewWithTopicClient(client.TopicAdminClient, name)
	if tracing(client) {
		p.TracerProvider = otel.GetTracerProvider()
	}
	return p
}

// tracing tells whether a client was made with EnableOpenTelemetryTracing, which it keeps to itself. A version that
// calls it otherwise is taken for one that was not.
func tracing(client *pubsub.Client) bool {
	field := reflect.ValueOf(client).Elem().FieldByName("enableTracing")
	return field.Kind() == reflect.Bool && field.Bool()
}

// NewWithTopicClient returns a Publisher that calls an API client. The topic's name is a full one:
// projects/PROJECT/topics/TOPIC.
func NewWithTopicClient(client *apiv1.TopicAdminClient, topicName string) *Publisher {
	return newPublisher(topicName, newCarrier(client))
}

// NewWithConn returns a Publisher that calls the service through a connection, whose owner it does not become. The
// topic's name is a full one.
func NewWithConn(conn grpc.ClientConnInterface, topicName string) *Publisher {
	return newPublisher(topicName, newConnCarrier(func() grpc.ClientConnInterface { return conn },
		gax.CallSettings{Retry: prescribed}))
}

func newPublisher(topic string, c carrier) *Publisher {
	p := &Publisher{PublishSettings: Defaults(), topic: topic, dispatcher: newDispatcher()}
	p.out = &sender{base: addressed(topic), topic: topic, id: p.ID(), carrier: c}
	p.dispatcher.open()
	// A program may forget to stop it, as it may with Google's. What it has published leaves all the same.
	runtime.AddCleanup(p, (*dispatcher).close, p.dispatcher)
	return p
}

// ID returns the topic's id within its project.
func (p *Publisher) ID() string { return p.topic[strings.LastIndexByte(p.topic, '/')+1:] }

// String returns the topic's full name.
func (p *Publisher) String() string { return p.topic }

var errNoMessage = errors.New("publisher: the message is nil")

// Publish publishes a message and returns at once with its result, or, while too much is outstanding, as
// PublishSettings.FlowControlSettings say: after it has waited for room, or with an error as the result. ctx bounds
// that waiting, and nothing else: it does not call back what was published. The message must not be changed before its
// result is ready.
func (p *Publisher) Publish(ctx context.Context, msg *pubsub.Message) *PublishResult {
	if !p.settled.Load() {
		p.settle()
	}
	d, r := p.dispatcher, &PublishResult{msg: msg}
	err := p.check(msg)
	if err == nil && p.tracer.on() {
		p.tracer.begin(ctx, p, r)
	}
	size := 0
	if err == nil {
		size, err = sizeOf(r.msg)
	}
	if err == nil && fieldSize(size) > d.room {
		err = pubsub.ErrOversizedMessage
	}
	if err != nil {
		if msg != nil && p.EnableMessageOrdering {
			d.pause(msg.OrderingKey) // the order has a hole
		}
		r.complete("", err)
		return r
	}
	r.size = int32(size)
	d.offer(ctx, r)
	runtime.KeepAlive(p) // it is not forgotten while a call waits for room
	return r
}

func (p *Publisher) check(msg *pubsub.Message) error {
	switch {
	case msg == nil:
		return errNoMessage
	case p.wrong != nil:
		return p.wrong
	case msg.OrderingKey != "" && !p.EnableMessageOrdering:
		return ErrOrderingNotEnabled
	}
	return nil
}

// settle takes the settings as they are at the first Publish.
func (p *Publisher) settle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.settled.Load() {
		return
	}
	s := p.PublishSettings.complete()
	p.tracer = newTracer(p.TracerProvider)
	if p.out.hedge, p.wrong = newHedge(s.HedgingSettings); p.wrong == nil && p.out.hedge != nil &&
		p.EnableMessageOrdering {
		p.wrong = ErrHedgedOrder
	}
	p.out.tracer, p.out.patience.limit = p.tracer, s.Timeout
	if s.EnableCompression {
		p.out.press = &press{least: s.CompressionBytesThreshold}
	}
	p.dispatcher.prepare(s, pubsub.MaxPublishRequestBytes-fieldSize(len(p.topic)), p.out.send, p.out.patience.stop)
	p.settled.Store(true)
}

// Stop lets everything that was published leave and returns when all of it was answered and no goroutine is left. Calls
// of Publish that wait for room, and all that follow, get pubsub.ErrPublisherStopped. A second Stop waits for the same
// end.
func (p *Publisher) Stop() { p.dispatcher.stop() }

// Flush lets everything that was published before the call leave, and returns when all of it was answered.
func (p *Publisher) Flush() { p.dispatcher.flush() }

// ResumePublish lets messages of a key be published again after one of it has failed.
func (p *Publisher) ResumePublish(orderingKey string) { p.dispatcher.resume(orderingKey) }

// Stats tells what the publisher has done and is doing.
func (p *Publisher) Stats() Stats { return p.dispatcher.snapshot() }
