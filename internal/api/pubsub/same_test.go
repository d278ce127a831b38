package pubsub

import (
	"context"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

func TestASubscriptionThatIsCalledAsItsTopicCanBeChanged(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := r.sub.UpdateSubscription(ctx, updateOf("news", &pubsubpb.Subscription{AckDeadlineSeconds: 60},
		"ack_deadline_seconds")); err != nil {
		t.Fatal(err)
	}
	r.publish("news", "", "a")
	if got := r.pull("news", 1); len(got) != 1 {
		t.Error("nothing came")
	}
}
