package pubsub

import (
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

// BenchmarkSmallCalls makes calls of one small message each: what a request costs beside its content.
func BenchmarkSmallCalls(b *testing.B) {
	addr := benchDoor(b)
	benchClient(b, addr)
	pub := benchPublisher(b, addr)
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
