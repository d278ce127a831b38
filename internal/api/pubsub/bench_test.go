package pubsub

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	client "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// benchDoor starts a door over a store that syncs, with a topic and a subscription.
func benchDoor(b *testing.B) (addr string) {
	b.Helper()
	j, err := file.Open(b.Context(), file.Options{Dir: b.TempDir(), Durability: journal.Fsync})
	if err != nil {
		b.Fatal(err)
	}
	s, err := queue.Open(b.Context(), queue.Options{Journal: j})
	if err != nil {
		b.Fatal(err)
	}
	d, err := New(Config{Listen: "127.0.0.1:0"}, Options{Store: s, Report: func(err error) { b.Error(err) }})
	if err != nil {
		b.Fatal(err)
	}
	a, err := d.Start(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = d.Close(context.Background())
		_ = s.Close()
		_ = j.Close()
	})
	return a.String()
}

// benchPeer starts Google's test server, which keeps nothing.
func benchPeer(b *testing.B) (addr string) {
	s := pstest.NewServer()
	b.Cleanup(func() { _ = s.Close() })
	return s.Addr
}

func benchClient(b *testing.B, addr string) *client.Client {
	b.Helper()
	c, err := client.NewClient(context.Background(), "local", option.WithEndpoint(addr), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	if _, err := c.TopicAdminClient.CreateTopic(b.Context(), &pubsubpb.Topic{Name: topicName("news")}); err != nil {
		b.Fatal(err)
	}
	if _, err := c.SubscriptionAdminClient.CreateSubscription(b.Context(),
		&pubsubpb.Subscription{Name: subscriptionName("readers"), Topic: topicName("news")}); err != nil {
		b.Fatal(err)
	}
	return c
}

// benchPublisher is the bare client of a server, without the libraries' batching.
func benchPublisher(b *testing.B, addr string) pubsubpb.PublisherClient {
	b.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	return pubsubpb.NewPublisherClient(conn)
}

var servers = []struct {
	name  string
	start func(*testing.B) string
}{{"hikyaku", benchDoor}, {"pstest", benchPeer}}

// BenchmarkPublish sends requests of 1,000 messages of 1,000 bytes, four at a time.
func BenchmarkPublish(b *testing.B) {
	for _, s := range servers {
		b.Run(s.name, func(b *testing.B) {
			addr := s.start(b)
			benchClient(b, addr)
			pub := benchPublisher(b, addr)
			req := &pubsubpb.PublishRequest{Topic: topicName("news")}
			for range 1000 {
				req.Messages = append(req.Messages, &pubsubpb.PubsubMessage{Data: make([]byte, 1000)})
			}
			b.SetParallelism(2)
			b.ResetTimer()
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					if _, err := pub.Publish(b.Context(), req); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "messages/s")
		})
	}
}

// BenchmarkReceive takes 1,000-byte messages with Google's client and acknowledges each.
func BenchmarkReceive(b *testing.B) {
	for _, s := range servers {
		b.Run(s.name, func(b *testing.B) {
			c := benchClient(b, s.start(b))
			p := c.Publisher("news")
			var last *client.PublishResult
			for range b.N {
				last = p.Publish(b.Context(), &client.Message{Data: make([]byte, 1000)})
			}
			p.Flush()
			if _, err := last.Get(b.Context()); err != nil {
				b.Fatal(err)
			}
			sub := c.Subscriber("readers")
			sub.ReceiveSettings.MaxOutstandingMessages = 100_000
			ctx, cancel := context.WithTimeout(b.Context(), 50*time.Second)
			defer cancel()
			var n atomic.Int64
			b.ResetTimer()
			err := sub.Receive(ctx, func(_ context.Context, m *client.Message) {
				m.Ack()
				if n.Add(1) == int64(b.N) {
					b.StopTimer()
					cancel()
				}
			})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(n.Load())/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
