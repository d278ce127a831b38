package pubsub

import (
	"context"
	"encoding/binary"
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
	return newRigWith(t, Config{}, Options{Store: s, Busy: door.NewBusy(4 * 4 * ((standing + 2) / 3))})
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
	// the one that was refused counts until its stream has ended
	doortest.Until(t, "a small header has room", func() bool { return get(t.Context()) == nil })
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

// What comes in frames of a byte each counts by its frames, and ends its connection when there is no room: gRPC keeps
// each by itself. One now and then, and one before each message, do not add up.
func TestTinyFramesCount(t *testing.T) {
	r := newTightRig(t, streamStands+1000*tinyStands)
	w := dialWild(t, r)
	w.call(1, streamMethod)
	w.send(1, binary.BigEndian.AppendUint32([]byte{0}, 50<<10), false)
	sent := 0
	for ; sent < 50_000 && w.send(1, []byte{0}, false); sent++ {
		if sent == 500 {
			select {
			case said, open := <-w.ended:
				t.Fatalf("after a few: %q, %v", said, open)
			default:
			}
		}
	}
	if sent == 50_000 {
		t.Error("the connection has not ended")
	}
	doortest.Until(t, "all is given back", func() bool { return r.door.busy.Standing().Used() == 0 })

	s := newStanding(door.NewBusy(1 << 20))
	s.header(1, 10, true)
	before := s.need
	now := time.Now()
	for range 10_000 {
		now = now.Add(tinyTime)
		if !s.data(1, true, now) {
			t.Fatal("one now and then")
		}
	}
	for range 10_000 {
		if !s.data(1, true, now) || !s.data(1, false, now) {
			t.Fatal("one before each message")
		}
	}
	if s.need > before+2*tinyStands {
		t.Errorf("%d bytes are kept", s.need-before)
	}
	for range 100 {
		s.data(1, true, now)
	}
	if s.closed(1); s.need != connStands {
		t.Errorf("%d bytes after the stream's end", s.need-connStands)
	}
}
