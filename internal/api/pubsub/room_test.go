package pubsub

import (
	"context"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/door/doortest"
)

// What is sent to a stream or a pull counts until the client has taken it. Streams that are not read take half of the
// account at most, and who finds no room is told to try again; the messages wait as if nobody had asked.
func TestWhatIsSentCountsUntilItIsTaken(t *testing.T) {
	r := newRig(t)
	all := door.NewBusy(32 << 20)
	all.Patience = 50 * time.Millisecond
	r.door.busy, r.door.answers = all, all.Share(16<<20)
	r.subscribe("news")
	body := make([]byte, 900<<10)
	for range 30 {
		if _, err := r.pub.Publish(t.Context(),
			&pubsubpb.PublishRequest{Topic: topicName("news"),
				Messages: []*pubsubpb.PubsubMessage{{Data: body}}}); err != nil {
			t.Fatal(err)
		}
	}
	doortest.Until(t, "requests are over", func() bool { return all.Used() == 0 })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 20 {
		st, err := pubsubpb.NewSubscriberClient(r.dial()).StreamingPull(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Send(&pubsubpb.StreamingPullRequest{Subscription: subscriptionName("news"),
			StreamAckDeadlineSeconds: 600}); err != nil {
			t.Fatal(err)
		}
	}
	doortest.Until(t, "streams hold what they may", func() bool { return all.Used() > 13<<20 })
	if used := all.Used(); used > 16<<20 {
		t.Errorf("streams hold %d bytes", used)
	}
	_, err := r.sub.Pull(t.Context(), &pubsubpb.PullRequest{Subscription: subscriptionName("news"), MaxMessages: 10})
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a pull without room: %v", err)
	}
	cancel()
	doortest.Until(t, "all is given back", func() bool { return all.Used() == 0 })
	got, err := r.sub.Pull(t.Context(), &pubsubpb.PullRequest{Subscription: subscriptionName("news"), MaxMessages: 1})
	if err != nil || len(got.ReceivedMessages) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	doortest.Until(t, "the pull's room is given back", func() bool { return all.Used() == 0 })
}
