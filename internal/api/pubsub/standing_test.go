package pubsub

import (
	"context"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/door/doortest"
)

// newTightRig opens a door in an account of which one connection may take so many bytes for its streams.
func newTightRig(t *testing.T, streams int64) *rig {
	t.Helper()
	standing := door.ConnStands + connStands + streams
	s, stop := openStore(t, t.TempDir(), time.Now)
	t.Cleanup(stop)
	return newRigWith(t, Config{}, Options{Store: s, Busy: door.NewBusy(4 * standing)})
}

// Streams count while they are open, also those on which nothing was ever sent. Who finds no room is told to try again,
// and calls that came before go on.
func TestOpenStreamsTakeNoMoreThanTheirRoom(t *testing.T) {
	const most, flood = 40, 100
	r := newTightRig(t, most*streamStands)
	w := dialWild(t, r)
	for i := range uint32(flood) {
		w.call(2*i+1, streamMethod)
	}
	// what is read at once may be refused at once, though some of it would have fitted
	for range flood - most {
		if said := <-w.ended; !strings.Contains(said, "grpc-status=8 ") || !strings.Contains(said, "try again") {
			t.Errorf("ended: %s", said)
		}
	}
	if used, all := r.door.busy.Standing().Used(), r.door.busy.Standing().Limit(); used > all {
		t.Errorf("they take %d bytes of %d", used, all)
	}
	w.conn.Close()
	doortest.Until(t, "all is given back", func() bool { return r.door.busy.Standing().Used() == 0 })
	r.subscribe("news")
	r.publish("news", "", "a")
	if got := receive(t, r.stream("news"), 1); len(got) != 1 {
		t.Errorf("%d messages", len(got))
	}
}

// A call whose client has ended it, or has its answer, gives back what it took: any number of them follow each other.
func TestStreamsGiveBackWhatTheyTook(t *testing.T) {
	r := newTightRig(t, 4*streamStands)
	r.subscribe("news")
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		st, err := r.sub.StreamingPull(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Send(&pubsubpb.StreamingPullRequest{Subscription: subscriptionName("news"),
			StreamAckDeadlineSeconds: 10}); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Header(); err != nil {
			t.Fatal(err)
		}
		r.publish("news", "", "a")
		cancel()
	}
}

// A large header counts for as long as its call lasts.
func TestALargeHeaderCountsAsLongAsItsCall(t *testing.T) {
	r := newTightRig(t, 2*streamStands+headerCost*14<<10)
	r.subscribe("news")
	large := metadata.AppendToOutgoingContext(t.Context(), "x-large", strings.Repeat("~", 10<<10))
	ctx, cancel := context.WithCancel(large)
	st, err := r.sub.StreamingPull(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Send(&pubsubpb.StreamingPullRequest{Subscription: subscriptionName("news"),
		StreamAckDeadlineSeconds: 10}); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Header(); err != nil {
		t.Fatal(err)
	}
	get := func(ctx context.Context) error {
		_, err := r.pub.GetTopic(ctx, &pubsubpb.GetTopicRequest{Topic: topicName("news")})
		return err
	}
	if err := get(large); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("another large header: %v", err)
	}
	if err := get(t.Context()); err != nil {
		t.Errorf("a small header: %v", err)
	}
	cancel()
	doortest.Until(t, "there is room again", func() bool { return get(large) == nil })
}

// A header of many fields, which is short on the wire from its second time on, is refused.
func TestACallMayHaveAHundredFields(t *testing.T) {
	r := newRig(t)
	var many []string
	for range 200 {
		many = append(many, "x", "")
	}
	_, err := r.pub.GetTopic(metadata.AppendToOutgoingContext(t.Context(), many...),
		&pubsubpb.GetTopicRequest{Topic: topicName("news")})
	if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "fields") {
		t.Error(err)
	}
	_, err = r.pub.GetTopic(metadata.AppendToOutgoingContext(t.Context(), many[:160]...),
		&pubsubpb.GetTopicRequest{Topic: topicName("news")})
	if status.Code(err) != codes.NotFound {
		t.Error(err)
	}
}
