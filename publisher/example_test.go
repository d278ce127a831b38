package publisher_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hikyaku/hikyaku/publisher"
)

// An in-memory Pub/Sub with the topic projects/p/topics/news, and Google's client of it: what PUBSUB_EMULATOR_HOST
// gives a program.
func emulator(ctx context.Context) (client *pubsub.Client, end func()) {
	server := pstest.NewServer()
	conn, err := grpc.NewClient(server.Addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	client, err = pubsub.NewClient(ctx, "p", option.WithGRPCConn(conn))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := client.TopicAdminClient.CreateTopic(ctx, &pubsubpb.Topic{Name: "projects/p/topics/news"}); err != nil {
		log.Fatal(err)
	}
	return client, func() {
		_ = client.Close()
		_ = server.Close()
	}
}

// The one line that changes is the one with New in it: before, it was client.Publisher("news").
func Example() {
	ctx := context.Background()
	client, end := emulator(ctx)
	defer end()

	p := publisher.New(client, "news")
	defer p.Stop()
	r := p.Publish(ctx, &pubsub.Message{Data: []byte("hello")})
	id, err := r.Get(ctx) // no 10 ms for company that never comes
	fmt.Println(id, err)
	// Output: m0 <nil>
}

// Messages of a key arrive in order. When one has failed, those after it fail too, until the program says that it has
// dealt with that.
func ExamplePublisher_ResumePublish() {
	ctx := context.Background()
	client, end := emulator(ctx)
	defer end()

	p := publisher.New(client, "news")
	defer p.Stop()
	p.EnableMessageOrdering = true
	say := func(what string, data []byte) {
		_, err := p.Publish(ctx, &pubsub.Message{Data: data, OrderingKey: "order-7"}).Get(ctx)
		var paused pubsub.ErrPublishingPaused
		switch {
		case errors.Is(err, pubsub.ErrOversizedMessage):
			fmt.Println(what, "is too large")
		case errors.As(err, &paused):
			fmt.Println(what, "has to wait for", paused.OrderingKey)
		default:
			fmt.Println(what, err)
		}
	}
	say("first", []byte("created"))
	say("second", make([]byte, 11e6))
	say("third", []byte("changed"))
	p.ResumePublish("order-7")
	say("fourth", []byte("changed"))
	// Output:
	// first <nil>
	// second is too large
	// third has to wait for order-7
	// fourth <nil>
}

// Flow control is on from the start. Here Publish refuses instead of blocking, so that a web server can say so.
func ExamplePublishSettings_flowControl() {
	ctx := context.Background()
	client, end := emulator(ctx)
	defer end()

	p := publisher.New(client, "news")
	p.PublishSettings.FlowControlSettings = pubsub.FlowControlSettings{
		MaxOutstandingMessages: 1000,
		MaxOutstandingBytes:    64, // far too few, for the sake of the example
		LimitExceededBehavior:  pubsub.FlowControlSignalError,
	}
	_, err := p.Publish(ctx, &pubsub.Message{Data: make([]byte, 100)}).Get(ctx)
	fmt.Println(errors.Is(err, pubsub.ErrFlowControllerMaxOutstandingBytes))
	p.Stop()
	// Output: true
}

// The classic policy, on the same code: a request leaves with three messages, or after a second.
func ExampleThresholds() {
	ctx := context.Background()
	client, end := emulator(ctx)
	defer end()

	p := publisher.New(client, "news")
	p.PublishSettings = publisher.Thresholds(3, 1e6, time.Second)
	for range 7 {
		p.Publish(ctx, &pubsub.Message{Data: []byte("tick")})
	}
	p.Stop() // what is left does not wait
	s := p.Stats()
	fmt.Println(s.Messages, "messages in", s.Requests, "requests")
	// Output: 7 messages in 3 requests
}

// While the line is busy, what is published gathers, as it were by itself.
func ExamplePublisher_Stats() {
	ctx := context.Background()
	client, end := emulator(ctx)
	defer end()

	p := publisher.New(client, "news")
	for range 10_000 {
		p.Publish(ctx, &pubsub.Message{Data: []byte("one of many")})
	}
	p.Flush()
	s := p.Stats()
	fmt.Println(s.Messages, "messages; fewer than 1,000 requests:", s.Requests < 1000)
	p.Stop()
	// Output: 10000 messages; fewer than 1,000 requests: true
}
