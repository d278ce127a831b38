package publisher_test

import (
	"testing"

	"cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"github.com/hikyaku/hikyaku/publisher"
)

func BenchmarkLone(b *testing.B) {
	s := new(service)
	conn := s.serve(b)
	b.Run("raw", func(b *testing.B) {
		b.ReportAllocs()
		c := pubsubpb.NewPublisherClient(conn)
		for b.Loop() {
			if _, err := c.Publish(b.Context(),
				&pubsubpb.PublishRequest{Topic: topic,
					Messages: []*pubsubpb.PubsubMessage{{Data: []byte("x")}}}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("kept", func(b *testing.B) {
		b.ReportAllocs()
		p := publisher.NewWithConn(conn, topic)
		defer p.Stop()
		for b.Loop() {
			allGood(b, p.Publish(b.Context(), text("x")))
		}
	})
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			p := publisher.NewWithConn(conn, topic)
			allGood(b, p.Publish(b.Context(), text("x")))
			p.Stop()
		}
	})
	b.Run("client", func(b *testing.B) {
		b.ReportAllocs()
		p := publisher.New(s.client(b), "t")
		defer p.Stop()
		for b.Loop() {
			allGood(b, p.Publish(b.Context(), text("x")))
		}
	})
	b.Run("google", func(b *testing.B) {
		b.ReportAllocs()
		p := s.client(b).Publisher("t")
		p.PublishSettings.CountThreshold = 1
		defer p.Stop()
		for b.Loop() {
			if _, err := p.Publish(b.Context(), text("x")).Get(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkFlatOut(b *testing.B) {
	body := make([]byte, 1000)
	s := new(service)
	b.Run("hikyaku", func(b *testing.B) {
		b.ReportAllocs()
		p := publisher.NewWithConn(s.serve(b), topic)
		for b.Loop() {
			p.Publish(b.Context(), &pubsub.Message{Data: body})
		}
		p.Stop()
		b.Logf("%+v", p.Stats())
		s.requests = nil
	})
}
