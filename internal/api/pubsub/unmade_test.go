package pubsub

import (
	"testing"
	"time"

	pb "cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// TestWhatIsRefusedLeavesNoSettings: they would be in force when another door makes a queue of that name.
func TestWhatIsRefusedLeavesNoSettings(t *testing.T) {
	j, err := file.Open(t.Context(), file.Options{Dir: t.TempDir(), Durability: journal.OS, SegmentBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	s, err := queue.Open(t.Context(), queue.Options{Journal: j, Clock: time.Now, Limits: queue.Limits{Queues: 1},
		Namespaces: map[string][]string{"default": {"local"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	r := newRigOver(t, Config{}, nil, s)
	r.topic("news")
	_, err = r.pub.CreateTopic(t.Context(), &pb.Topic{Name: topicName("more"),
		MessageRetentionDuration: durationpb.New(time.Hour)})
	wantCode(t, err, codes.FailedPrecondition)
	_, err = r.sub.CreateSubscription(t.Context(), &pb.Subscription{Name: subscriptionName("readers"),
		Topic: topicName("news"), PushConfig: &pb.PushConfig{PushEndpoint: "http://127.0.0.1:1/"}})
	wantCode(t, err, codes.FailedPrecondition)
	if notes := must(s.Notes(t.Context(), room)); len(notes) != 0 {
		t.Errorf("%d notes are left: %v", len(notes), notes)
	}
}
