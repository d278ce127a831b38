package pubsub

import (
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// BenchmarkSmallCalls makes calls of one small message each: what a request costs beside its content.
func BenchmarkSmallCalls(b *testing.B) {
	addr := benchDoor(b)
	benchClient(b, addr)
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	pub := pubsubpb.NewPublisherClient(conn)
	b.ReportAllocs()
	b.SetParallelism(8)
	b.ResetTimer()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if _, err := pub.GetTopic(b.Context(), &pubsubpb.GetTopicRequest{Topic: topicName("news")}); err != nil {
				b.Error(err)
			}
		}
	})
}
