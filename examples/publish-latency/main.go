// Publish-latency measures how long one Pub/Sub message takes, with the default settings of Google's publisher and with
// CountThreshold set to the number of messages at hand. It uses nothing but Google's library; where it publishes is for
// PUBSUB_EMULATOR_HOST to say:
//
//	hikyaku serve --detach
//	PUBSUB_EMULATOR_HOST=127.0.0.1:8085 go run ./examples/publish-latency
//
// It prints two lines. The default settings take ten milliseconds more: the publisher waits so long for company that
// does not come.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func main() {
	project := flag.String("project", "local", "the topic's project")
	topic := flag.String("topic", "latency", "the topic's id; it is made if it is missing")
	n := flag.Int("n", 100, "how many messages are published with each setting, one at a time")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *project, *topic, *n); err != nil {
		slog.Error("publish-latency failed", "error", err)
		os.Exit(1)
	}
}

// run publishes n messages with each setting and writes a line about each to out.
func run(ctx context.Context, out io.Writer, project, topic string, n int) (err error) {
	client, err := pubsub.NewClient(ctx, project)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	defer func() {
		if e := client.Close(); err == nil && e != nil {
			err = fmt.Errorf("close the client: %w", e)
		}
	}()
	name := fmt.Sprintf("projects/%s/topics/%s", project, topic)
	if _, err := client.TopicAdminClient.CreateTopic(ctx, &pubsubpb.Topic{Name: name}); err != nil &&
		status.Code(err) != codes.AlreadyExists {
		return fmt.Errorf("make the topic %s: %w", name, err)
	}

	// What nobody subscribes to need not be kept, and says nothing about a service that keeps messages.
	subscription := fmt.Sprintf("projects/%s/subscriptions/%s", project, topic)
	if _, err := client.SubscriptionAdminClient.CreateSubscription(ctx,
		&pubsubpb.Subscription{Name: subscription, Topic: name}); err != nil &&
		status.Code(err) != codes.AlreadyExists {
		return fmt.Errorf("make the subscription %s: %w", subscription, err)
	}

	// The first message pays for the connection.
	warm := client.Publisher(topic)
	_, err = warm.Publish(ctx, &pubsub.Message{Data: []byte("warm up")}).Get(ctx)
	warm.Stop()
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}

	log := slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	for _, setting := range []struct {
		name string
		tune func(s *pubsub.PublishSettings)
	}{
		{"Default", func(*pubsub.PublishSettings) {}},
		{"Optimized", func(s *pubsub.PublishSettings) {
			s.CountThreshold = 1 // as many messages as there are at hand
			s.ByteThreshold = 1 << 20
			s.DelayThreshold = 50 * time.Millisecond
			s.EnableCompression = true
		}},
	} {
		mean, err := measure(ctx, client, topic, n, setting.tune)
		if err != nil {
			return err
		}
		log.Info(setting.name+" settings result", "average_ms",
			fmt.Sprintf("%.3f", float64(mean)/float64(time.Millisecond)))
	}
	return nil
}

// measure returns how long a message takes from Publish to its result, each with a publisher of its own.
func measure(ctx context.Context, client *pubsub.Client, topic string, n int,
	tune func(*pubsub.PublishSettings)) (time.Duration, error) {
	var total time.Duration
	for i := range n {
		publisher := client.Publisher(topic)
		tune(&publisher.PublishSettings)
		began := time.Now()
		_, err := publisher.Publish(ctx, &pubsub.Message{Data: fmt.Appendf(nil, "test %d", i)}).Get(ctx)
		total += time.Since(began)
		publisher.Stop()
		if err != nil {
			return 0, fmt.Errorf("publish message %d: %w", i, err)
		}
	}
	return total / time.Duration(max(n, 1)), nil
}

// withoutTime leaves out what differs from run to run.
func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}
