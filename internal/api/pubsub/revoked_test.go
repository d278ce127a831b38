package pubsub

import (
	"context"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// TestAGrantThatIsTakenAwayEndsWhatStands: a pull that waits, a stream that waits, and what a stream settles.
func TestAGrantThatIsTakenAwayEndsWhatStands(t *testing.T) {
	r, users, boss, eve := reaching(t)
	const id = "eve-readers"
	sub := r.make(boss, "eve").Name
	waiting := func(n int) func() bool {
		return func() bool {
			st, err := r.store.Stats(t.Context(), queue.Name{Namespace: "default", Name: id})
			return err == nil && st.Waiters == n
		}
	}
	publish := func() {
		t.Helper()
		if _, err := r.pub.Publish(boss, &pubsubpb.PublishRequest{Topic: topicName("eve"),
			Messages: []*pubsubpb.PubsubMessage{{Data: []byte("a")}}}); err != nil {
			t.Fatal(err)
		}
	}
	grant := func(can string) {
		t.Helper()
		if err := users.Replace([]access.User{
			{Name: "boss", Secret: "boss-secret", Grants: []access.Grant{{Can: []string{"put"}, On: []string{"*"}}}},
			{Name: "eve", Secret: "eve-secret",
				Grants: []access.Grant{{Can: []string{can}, On: []string{"default/eve*"}}}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	open := func() pubsubpb.Subscriber_StreamingPullClient {
		t.Helper()
		ctx, cancel := context.WithTimeout(eve, 10*time.Second) // of a stream that goes on
		t.Cleanup(cancel)
		st, err := r.sub.StreamingPull(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Send(&pubsubpb.StreamingPullRequest{Subscription: sub, StreamAckDeadlineSeconds: 10}); err != nil {
			t.Fatal(err)
		}
		waittest.Until(t, "the stream waits", waiting(1))
		return st
	}

	st := open() // it settles
	publish()
	got, err := st.Recv()
	if err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the stream waits again", waiting(1))
	grant("put")
	if err := st.Send(&pubsubpb.StreamingPullRequest{AckIds: ackIDs(got.ReceivedMessages)}); err != nil {
		t.Fatal(err)
	}
	_, err = st.Recv()
	wantCode(t, err, codes.PermissionDenied)

	grant("take")
	st = open() // it waits
	grant("put")
	publish()
	got, err = st.Recv()
	if wantCode(t, err, codes.PermissionDenied); got != nil {
		t.Errorf("it got %v", got)
	}

	grant("take")
	pulled := make(chan error, 1)
	if _, err := r.sub.Pull(eve, &pubsubpb.PullRequest{Subscription: sub, MaxMessages: 10}); err != nil {
		t.Fatal(err) // so that it waits
	}
	go func() {
		_, err := r.sub.Pull(eve, &pubsubpb.PullRequest{Subscription: sub, MaxMessages: 1})
		pulled <- err
	}()
	waittest.Until(t, "the pull waits", waiting(1))
	grant("put")
	publish()
	if err := <-pulled; status.Code(err) != codes.PermissionDenied {
		t.Error(err)
	}
}
