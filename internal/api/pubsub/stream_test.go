package pubsub

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"

	"github.com/hikyaku/hikyaku/internal/queue"
)

type pullStream = pubsubpb.Subscriber_StreamingPullClient

// receive reads from a stream until n messages have come.
func receive(t *testing.T, st pullStream, n int) []*pubsubpb.ReceivedMessage {
	t.Helper()
	var got []*pubsubpb.ReceivedMessage
	for len(got) < n {
		res, err := st.Recv()
		if err != nil {
			t.Fatalf("after %d of %d messages: %v", len(got), n, err)
		}
		got = append(got, res.ReceivedMessages...)
	}
	return got
}

// left waits until a queue holds so many messages.
func (r *rig) left(id string, n int64) {
	r.t.Helper()
	for {
		s, err := r.store.Stats(context.Background(), queue.Name{Namespace: "default", Name: id})
		if err != nil {
			r.t.Fatal(err)
		}
		if s.Messages() == n {
			return
		}
		select {
		case <-time.After(time.Millisecond):
		case <-r.t.Context().Done():
			r.t.Fatalf("%d messages are left, not %d", s.Messages(), n)
		}
	}
}

func TestAStreamHandsOutWhatComesAndTakesAcknowledgements(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	r.publish("news", "", "a", "b")
	st := r.stream("news")
	got := receive(t, st, 2)
	r.publish("news", "", "c")
	got = append(got, receive(t, st, 1)...)
	if !slices.Equal(texts(got), []string{"a", "b", "c"}) {
		t.Fatalf("%q came", texts(got))
	}
	if err := st.Send(&pubsubpb.StreamingPullRequest{AckIds: ackIDs(got[:2]), ModifyDeadlineAckIds: ackIDs(got[2:]),
		ModifyDeadlineSeconds: []int32{0}}); err != nil {
		t.Fatal(err)
	}
	if again := receive(t, st, 1); !slices.Equal(texts(again), []string{"c"}) {
		t.Errorf("%q came again", texts(again))
	} else if err := r.ack("news", again...); err != nil {
		t.Error(err)
	}
	r.left("news", 0)
	if err := st.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("a stream that its client ended well ends with %v", err)
	}
}

func TestAStreamTellsPropertiesAndAnswersPings(t *testing.T) {
	r := newRig(t)
	r.subscribe("both", func(s *pubsubpb.Subscription) {
		s.EnableExactlyOnceDelivery, s.EnableMessageOrdering = true,
			true
	})
	r.publish("both", "k", "a")
	st := r.stream("both", func(q *pubsubpb.StreamingPullRequest) { q.ProtocolVersion = 1 })
	res, err := st.Recv()
	if err != nil {
		t.Fatal(err)
	}
	if p := res.SubscriptionProperties; !p.GetExactlyOnceDeliveryEnabled() || !p.GetMessageOrderingEnabled() ||
		len(res.ReceivedMessages) != 1 {
		t.Errorf("the first response is %v", res)
	}
	for range 3 {
		if err := st.Send(&pubsubpb.StreamingPullRequest{}); err != nil {
			t.Fatal(err)
		}
		res, err := st.Recv()
		if err != nil || len(res.ReceivedMessages) != 0 || !res.SubscriptionProperties.GetExactlyOnceDeliveryEnabled() {
			t.Errorf("a ping is answered with %v, %v", res, err)
		}
	}
}

func TestWithExactlyOnceAStreamConfirms(t *testing.T) {
	r, clock := newTimedRig(t)
	r.subscribe("once", func(s *pubsubpb.Subscription) { s.EnableExactlyOnceDelivery = true })
	r.publish("once", "", "a", "b", "c")
	st := r.stream("once")
	got := receive(t, st, 3)
	if err := st.Send(&pubsubpb.StreamingPullRequest{AckIds: []string{got[0].AckId, "nonsense"},
		ModifyDeadlineAckIds: []string{got[1].AckId, "nothing"}, ModifyDeadlineSeconds: []int32{60, 60}}); err != nil {
		t.Fatal(err)
	}
	res, err := st.Recv()
	if err != nil {
		t.Fatal(err)
	}
	a, m := res.AcknowledgeConfirmation, res.ModifyAckDeadlineConfirmation
	if !slices.Equal(a.GetAckIds(), []string{got[0].AckId}) ||
		!slices.Equal(a.GetInvalidAckIds(), []string{"nonsense"}) {
		t.Errorf("acknowledgements are confirmed as %v", a)
	}
	if !slices.Equal(m.GetAckIds(), []string{got[1].AckId}) ||
		!slices.Equal(m.GetInvalidAckIds(), []string{"nothing"}) {
		t.Errorf("deadlines are confirmed as %v", m)
	}
	clock.pass(11 * time.Second)
	if err := st.Send(&pubsubpb.StreamingPullRequest{AckIds: []string{got[2].AckId}}); err != nil {
		t.Fatal(err)
	}
	for {
		res, err := st.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if c := res.AcknowledgeConfirmation; c != nil {
			if !slices.Equal(c.InvalidAckIds, []string{got[2].AckId}) {
				t.Errorf("what is over is confirmed as %v", c)
			}
			return
		}
	}
}

func TestAStreamThatEndsWellConfirmsItsLastRequests(t *testing.T) {
	r := newRig(t)
	r.subscribe("once", func(s *pubsubpb.Subscription) { s.EnableExactlyOnceDelivery = true })
	r.publish("once", "", "a", "b")
	st := r.stream("once")
	var want []string
	for _, m := range receive(t, st, 2) {
		want = append(want, m.AckId)
		if err := st.Send(&pubsubpb.StreamingPullRequest{AckIds: []string{m.AckId}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.CloseSend(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		res, err := st.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, res.GetAcknowledgeConfirmation().GetAckIds()...)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%q were confirmed of %q", got, want)
	}
}

func TestAStreamGoesNoFurtherThanItsClientAllows(t *testing.T) {
	for name, bound := range map[string]func(*pubsubpb.StreamingPullRequest){
		"messages": func(q *pubsubpb.StreamingPullRequest) { q.MaxOutstandingMessages = 3 },
		"bytes":    func(q *pubsubpb.StreamingPullRequest) { q.MaxOutstandingBytes = 100 },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.subscribe("news")
			for range 10 {
				// two are within the bound of bytes, and one is handed out whatever its size
				r.publish("news", "", string(make([]byte, 40)))
			}
			st := r.stream("news", bound)
			got := receive(t, st, 3)
			r.waiters("news", 0)
			more := make(chan []*pubsubpb.ReceivedMessage, 1)
			go func() {
				res, err := st.Recv()
				if err != nil {
					t.Error(err)
				}
				more <- res.GetReceivedMessages()
			}()
			// Acknowledged by another call, as Google's clients do it.
			if err := r.ack("news", got[0], got[0]); err != nil {
				t.Fatal(err)
			}
			if ms := <-more; len(ms) != 1 {
				t.Fatalf("%d came for one that was acknowledged", len(ms))
			}
			if err := st.Send(&pubsubpb.StreamingPullRequest{ModifyDeadlineAckIds: ackIDs(got[1:2]),
				ModifyDeadlineSeconds: []int32{0}}); err != nil {
				t.Fatal(err)
			}
			if ms := receive(t, st, 1); len(ms) != 1 {
				t.Fatalf("%d came for one that was put back", len(ms))
			}
			if s, err := r.store.Stats(t.Context(), queue.Name{Namespace: "default", Name: "news"}); err != nil ||
				s.Claimed != 3 {
				t.Errorf("the client holds %d, %v", s.Claimed, err)
			}
		})
	}
}

func TestMessagesPastTheirDeadlineMakeRoom(t *testing.T) { synctest.Test(t, pastDeadlines) }

func pastDeadlines(t *testing.T) {
	f := newFlow(2, 0)
	claims := []queue.Claim{{Token: queue.Token{Sequence: 1}}, {Token: queue.Token{Sequence: 2}}}
	claims[0].Message.Body, claims[1].Message.Body = make([]byte, 10), make([]byte, 20)
	f.hold(claims, time.Now().Add(10*time.Second))
	if n, _, _ := f.left(5, 100); n != 0 {
		t.Fatalf("there is room for %d", n)
	}
	f.extend(ackID{token: claims[1].Token}, time.Now().Add(time.Hour))
	if n, b, err := f.room(t.Context(), 5, 100); err != nil || n != 1 || b != 100 {
		t.Errorf("after a deadline there is room for %d messages, %d bytes, %v", n, b, err)
	}
	if f.bytes != 20 {
		t.Errorf("%d bytes are held", f.bytes)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.hold(claims[:1], time.Now().Add(time.Hour))
	cancel()
	if _, _, err := f.room(ctx, 1, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAStreamRefusesWhatItMay(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	for _, c := range []struct {
		name  string
		first func(*pubsubpb.StreamingPullRequest)
		then  *pubsubpb.StreamingPullRequest
		code  codes.Code
		field string
	}{
		{"no subscription", func(q *pubsubpb.StreamingPullRequest) { q.Subscription = "" }, nil, codes.InvalidArgument,
			"subscription"},
		{"an unknown subscription", func(q *pubsubpb.StreamingPullRequest) { q.Subscription += "s" }, nil,
			codes.NotFound, ""},
		{"no deadline", func(q *pubsubpb.StreamingPullRequest) { q.StreamAckDeadlineSeconds = 0 }, nil,
			codes.InvalidArgument, "stream_ack_deadline_seconds"},
		{"a long deadline", func(q *pubsubpb.StreamingPullRequest) { q.StreamAckDeadlineSeconds = 601 }, nil,
			codes.InvalidArgument, "stream_ack_deadline_seconds"},
		{"another subscription", nil, &pubsubpb.StreamingPullRequest{Subscription: subscriptionName("news")},
			codes.InvalidArgument, "subscription"},
		{"another client", nil, &pubsubpb.StreamingPullRequest{ClientId: "x"}, codes.InvalidArgument, "client_id"},
		{"other bounds", nil, &pubsubpb.StreamingPullRequest{MaxOutstandingMessages: 1}, codes.InvalidArgument,
			"max_outstanding_messages"},
		{"other bytes", nil, &pubsubpb.StreamingPullRequest{MaxOutstandingBytes: 1}, codes.InvalidArgument,
			"max_outstanding_bytes"},
		{"another protocol", nil, &pubsubpb.StreamingPullRequest{ProtocolVersion: 1}, codes.InvalidArgument,
			"protocol_version"},
		{"another deadline", nil, &pubsubpb.StreamingPullRequest{StreamAckDeadlineSeconds: 9}, codes.InvalidArgument,
			"stream_ack_deadline_seconds"},
		{"nonsense", nil, &pubsubpb.StreamingPullRequest{AckIds: []string{"x"}}, codes.InvalidArgument, "ack_ids"},
		{"nonsense put off", nil, &pubsubpb.StreamingPullRequest{ModifyDeadlineAckIds: []string{"x"},
			ModifyDeadlineSeconds: []int32{1}}, codes.InvalidArgument, "modify_deadline_ack_ids"},
		{"a deadline too many", nil, &pubsubpb.StreamingPullRequest{ModifyDeadlineSeconds: []int32{1}},
			codes.InvalidArgument, "modify_deadline_seconds"},
		{"a negative one", nil, &pubsubpb.StreamingPullRequest{ModifyDeadlineAckIds: []string{"x"},
			ModifyDeadlineSeconds: []int32{-1}}, codes.InvalidArgument, "modify_deadline_seconds"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var change []func(*pubsubpb.StreamingPullRequest)
			if c.first != nil {
				change = append(change, c.first)
			}
			st := r.stream("news", change...)
			if c.then != nil {
				if err := st.Send(c.then); err != nil {
					t.Fatal(err)
				}
			}
			_, err := st.Recv()
			wantCode(t, err, c.code)
			if got := fieldOf(err); got != c.field {
				t.Errorf("it complains about %q, not %q: %v", got, c.field, err)
			}
		})
	}
}

func TestAStreamEndsWithItsSubscription(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	st := r.stream("news")
	r.waiters("news", 1)
	if _, err := r.sub.DeleteSubscription(t.Context(),
		&pubsubpb.DeleteSubscriptionRequest{Subscription: subscriptionName("news")}); err != nil {
		t.Fatal(err)
	}
	_, err := st.Recv()
	wantCode(t, err, codes.NotFound)
	r.subscribeTo("news", "other")
	st = r.stream("other")
	r.waiters("other", 1)
	if _, err := r.pub.DetachSubscription(t.Context(),
		&pubsubpb.DetachSubscriptionRequest{Subscription: subscriptionName("other")}); err != nil {
		t.Fatal(err)
	}
	_, err = st.Recv()
	wantCode(t, err, codes.FailedPrecondition)
}

func TestWhatAClientThatVanishedHeldComesBack(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		r, clock := newTimedRig(t)
		r.subscribe("news", func(s *pubsubpb.Subscription) { s.EnableMessageOrdering = ordered })
		r.publish("news", "k", "a", "b")
		ctx, cancel := context.WithCancel(t.Context())
		gone, err := r.sub.StreamingPull(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := gone.Send(&pubsubpb.StreamingPullRequest{Subscription: subscriptionName("news"),
			StreamAckDeadlineSeconds: 60}); err != nil {
			t.Fatal(err)
		}
		held := receive(t, gone, 2)
		cancel()
		if _, err := gone.Recv(); err == nil {
			t.Error("it goes on")
		}
		r.waiters("news", 0)
		// It may come again and acknowledge what it holds.
		if err := r.ack("news", held[0]); err != nil {
			t.Fatal(err)
		}
		r.left("news", 1)
		clock.pass(59 * time.Second)
		if got := r.pull("news", 10); len(got) != 0 {
			t.Errorf("ordered %v: %q came before the deadline", ordered, texts(got))
		}
		clock.pass(2 * time.Second)
		if got := r.pull("news", 10); !slices.Equal(texts(got), []string{"b"}) {
			t.Errorf("ordered %v: %q came back", ordered, texts(got))
		}
	}
}

func TestOneStreamHoldsSeveralMessagesOfAKey(t *testing.T) {
	r := newRig(t)
	r.subscribe("news", func(s *pubsubpb.Subscription) { s.EnableMessageOrdering = true })
	r.publish("news", "k", "1")
	st := r.stream("news")
	first := receive(t, st, 1)
	r.publish("news", "k", "2", "3")
	rest := receive(t, st, 2)
	if !slices.Equal(texts(append(first, rest...)), []string{"1", "2", "3"}) {
		t.Fatalf("%q came", texts(append(first, rest...)))
	}
	if got := r.pull("news", 5); len(got) != 0 {
		t.Errorf("another client got %q of the key", texts(got))
	}
	if err := r.nack("news", rest[0]); err != nil {
		t.Fatal(err)
	}
	if again := receive(t, st, 2); !slices.Equal(texts(again), []string{"2", "3"}) {
		t.Errorf("%q came again", texts(again))
	}
}

func TestAClientThatDoesNotReadHoldsUpNobody(t *testing.T) {
	r := newRig(t)
	r.subscribe("once", func(s *pubsubpb.Subscription) { s.EnableExactlyOnceDelivery = true })
	big := string(make([]byte, 300_000))
	for range 30 {
		r.publish("once", "", big)
	}
	deaf := r.stream("once", func(q *pubsubpb.StreamingPullRequest) { q.ProtocolVersion = 1 })
	for range 50 {
		if err := deaf.Send(&pubsubpb.StreamingPullRequest{AckIds: []string{"x"}}); err != nil {
			t.Fatal(err)
		}
	}
	r.subscribe("news")
	r.publish("news", "", "a")
	st := r.stream("news")
	got := receive(t, st, 1)
	if err := st.Send(&pubsubpb.StreamingPullRequest{AckIds: ackIDs(got)}); err != nil {
		t.Fatal(err)
	}
	r.left("news", 0)
}

func TestAThousandStreamsShareASubscription(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	const n = 1000
	var open sync.WaitGroup
	got := make(chan *pubsubpb.ReceivedMessage, n)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range n {
		st, err := r.sub.StreamingPull(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Send(&pubsubpb.StreamingPullRequest{Subscription: subscriptionName("news"),
			StreamAckDeadlineSeconds: 60, MaxOutstandingMessages: 1}); err != nil {
			t.Fatal(err)
		}
		open.Go(func() {
			for {
				res, err := st.Recv()
				if err != nil {
					return
				}
				for _, m := range res.ReceivedMessages {
					got <- m
				}
			}
		})
	}
	r.waiters("news", n)
	bodies := make([]string, n)
	for i := range bodies {
		bodies[i] = string(rune('0'+i%10)) + string(rune('0'+i/10%10)) + string(rune('0'+i/100))
	}
	r.publish("news", "", bodies...)
	seen := map[string]bool{}
	for range n {
		m := <-got
		if seen[string(m.Message.Data)] {
			t.Fatalf("%s came twice", m.Message.Data)
		}
		seen[string(m.Message.Data)] = true
	}
	cancel()
	open.Wait()
	r.waiters("news", 0)
}

func TestAClosingDoorEndsStreamsSoThatClientsComeAgain(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	st := r.stream("news")
	pulled := make(chan error, 1)
	go func() {
		_, err := r.sub.Pull(context.Background(), &pubsubpb.PullRequest{Subscription: subscriptionName("news"),
			MaxMessages: 1})
		pulled <- err
	}()
	r.waiters("news", 2)
	r.close()
	_, err := st.Recv()
	wantCode(t, err, codes.Unavailable)
	wantCode(t, <-pulled, codes.Unavailable)
}

// oneByOne gives the messages of a stream one after the other.
type oneByOne struct {
	pullStream
	got []*pubsubpb.ReceivedMessage
}

func (o *oneByOne) next(t *testing.T) *pubsubpb.PubsubMessage {
	t.Helper()
	for len(o.got) == 0 {
		o.got = receive(t, o.pullStream, 1)
	}
	m := o.got[0].Message
	o.got = o.got[1:]
	return m
}
