package pubsub

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// newTimedRig is a rig whose store's clock can be moved.
func newTimedRig(t *testing.T) (*rig, *fakeClock) {
	t.Helper()
	clock := new(fakeClock)
	s, stop := openStore(t, t.TempDir(), clock.now)
	t.Cleanup(stop)
	r := newRigOver(t, Config{}, nil, s)
	r.door.now = clock.now
	return r, clock
}

func TestWhatIsPublishedComesWithAllThatItHas(t *testing.T) {
	r := newRig(t)
	r.subscribe("news", func(s *pubsubpb.Subscription) { s.EnableMessageOrdering = true })
	before := time.Now()
	res, err := r.pub.Publish(t.Context(),
		&pubsubpb.PublishRequest{Topic: topicName("news"), Messages: []*pubsubpb.PubsubMessage{
			{Data: []byte("飛脚\x00\xff"), Attributes: map[string]string{"z": "1", "a": "", "飛": "脚"}, OrderingKey: "k",
				MessageId: "mine", PublishTime: timestamppb.New(time.Unix(1, 0))},
			{Attributes: map[string]string{"only": "attributes"}, OrderingKey: "k"},
		}})
	if err != nil {
		t.Fatal(err)
	}
	got := r.pull("news", 10)
	if len(got) != 2 {
		t.Fatalf("%d messages came", len(got))
	}
	m := got[0].Message
	if string(m.Data) != "飛脚\x00\xff" || len(m.Attributes) != 3 || m.Attributes["z"] != "1" ||
		m.Attributes["飛"] != "脚" || m.OrderingKey != "k" {
		t.Errorf("the first came as %v", m)
	}
	if v, ok := m.Attributes["a"]; !ok || v != "" {
		t.Errorf("the empty attribute came as %q, %v", v, ok)
	}
	if m.MessageId != res.MessageIds[0] || m.MessageId == "mine" {
		t.Errorf("its id is %s, the publisher was told %s", m.MessageId, res.MessageIds[0])
	}
	if at := m.PublishTime.AsTime(); at.Before(before.Add(-time.Second)) || at.After(time.Now().Add(time.Second)) {
		t.Errorf("its time is %v", at)
	}
	if got[1].Message.Attributes["only"] != "attributes" || len(got[1].Message.Data) != 0 ||
		got[0].DeliveryAttempt != 0 {
		t.Errorf("the second came as %v, attempt %d", got[1].Message, got[1].DeliveryAttempt)
	}
}

func TestAPullWaitsForTheFirstMessage(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	came := make(chan []string, 1)
	go func() {
		res, err := r.sub.Pull(t.Context(), &pubsubpb.PullRequest{Subscription: subscriptionName("news"),
			MaxMessages: 5})
		if err != nil {
			t.Error(err)
		}
		came <- texts(res.GetReceivedMessages())
	}()
	r.waiters("news", 1)
	r.publish("news", "", "a")
	if got := <-came; !slices.Equal(got, []string{"a"}) {
		t.Errorf("%q came", got)
	}
}

// waiters waits until so many claims wait on a queue.
func (r *rig) waiters(id string, n int) {
	r.t.Helper()
	for {
		s, err := r.store.Stats(context.Background(), queue.Name{Namespace: "default", Name: id})
		if err != nil {
			r.t.Fatal(err)
		}
		if s.Waiters == n {
			return
		}
		select {
		case <-time.After(time.Millisecond):
		case <-r.t.Context().Done():
			r.t.Fatalf("%d wait, not %d", s.Waiters, n)
		}
	}
}

func TestAPullReturnsBeforeItsClientGivesUp(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	var err error
	for range 10 { // a busy machine may be late with an answer that was sent in time, but not with each
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		var res *pubsubpb.PullResponse
		res, err = r.sub.Pull(ctx, &pubsubpb.PullRequest{Subscription: subscriptionName("news"), MaxMessages: 5})
		cancel()
		if len(res.GetReceivedMessages()) != 0 {
			t.Fatal(res)
		}
		if err == nil {
			return
		}
	}
	t.Error(err)
}

func TestAMessageComesAgainAtItsDeadlineAndNotBefore(t *testing.T) {
	r, clock := newTimedRig(t)
	r.subscribe("news")
	r.publish("news", "", "a", "b")
	first := r.pull("news", 10)
	if len(first) != 2 {
		t.Fatal(texts(first))
	}
	clock.pass(9 * time.Second)
	if got := r.pull("news", 10); len(got) != 0 {
		t.Fatalf("%q came before the deadline", texts(got))
	}
	if err := r.modify("news", 60, first[0]); err != nil {
		t.Fatal(err)
	}
	clock.pass(2 * time.Second)
	if got := r.pull("news", 10); !slices.Equal(texts(got), []string{"b"}) {
		t.Fatalf("%q came at the deadline", texts(got))
	}
	clock.pass(59 * time.Second)
	if got := r.pull("news", 10); len(got) != 2 {
		t.Fatalf("%q came at the longer one", texts(got))
	}
}

func TestANackBringsAMessageBackAtOnce(t *testing.T) {
	r := newRig(t)
	r.subscribe("news")
	r.publish("news", "", "a")
	first := r.pull("news", 10)
	if err := r.nack("news", first...); err != nil {
		t.Fatal(err)
	}
	again := r.pull("news", 10)
	if !slices.Equal(texts(again), []string{"a"}) || again[0].AckId == first[0].AckId ||
		again[0].Message.MessageId != first[0].Message.MessageId {
		t.Errorf("%v came again", again)
	}
	// The ack id of before is of no use, and no error.
	if err := r.ack("news", first...); err != nil {
		t.Error(err)
	}
	if err := r.nack("news", again...); err != nil {
		t.Error(err)
	}
	if got := r.pull("news", 1); len(got) != 1 {
		t.Error("it was acknowledged by an old id")
	}
}

func TestAcknowledgingTwiceIsNoError(t *testing.T) {
	r := newRig(t)
	for _, exactly := range []bool{false, true} {
		id := map[bool]string{false: "news", true: "once"}[exactly]
		r.subscribe(id, func(s *pubsubpb.Subscription) { s.EnableExactlyOnceDelivery = exactly })
		r.publish(id, "", "a", "b")
		got := r.pull(id, 10)
		if err := r.ack(id, append(got, got...)...); err != nil {
			t.Error(err)
		}
		if err := r.ack(id, got...); err != nil {
			t.Error(err)
		}
		if s, err := r.store.Stats(t.Context(), queue.Name{Namespace: "default", Name: id}); err != nil ||
			s.Messages() != 0 {
			t.Errorf("%d messages are left, %v", s.Messages(), err)
		}
	}
}

func TestMessagesOfAKeyComeInOrderToOneClientAtATime(t *testing.T) {
	r := newRig(t)
	r.subscribe("news", func(s *pubsubpb.Subscription) { s.EnableMessageOrdering = true })
	r.publish("news", "k", "1", "2", "3")
	r.publish("news", "x", "x1")
	first := r.pull("news", 2)
	if !slices.Equal(texts(first), []string{"1", "2"}) {
		t.Fatalf("%q came first", texts(first))
	}
	if got := r.pull("news", 10); !slices.Equal(texts(got), []string{"x1"}) {
		t.Fatalf("another client got %q while the key was held", texts(got))
	}
	if err := r.nack("news", first[0]); err != nil {
		t.Fatal(err)
	}
	if got := r.pull("news", 10); !slices.Equal(texts(got), []string{"1", "2", "3"}) {
		t.Fatalf("%q came after the first was put back", texts(got))
	}
}

func TestARetryPolicyLetsAMessageRestLongerEachTime(t *testing.T) {
	r, clock := newTimedRig(t)
	r.topic("news")
	r.subscribeTo("news", "readers", func(s *pubsubpb.Subscription) {
		s.RetryPolicy = &pubsubpb.RetryPolicy{MinimumBackoff: durationpb.New(20 * time.Second),
			MaximumBackoff: durationpb.New(60 * time.Second)}
	})
	r.publish("news", "", "a")
	for i, rest := range []time.Duration{20 * time.Second, 40 * time.Second, 60 * time.Second, 60 * time.Second} {
		got := r.pull("readers", 1)
		if len(got) != 1 {
			t.Fatalf("attempt %d: nothing came", i+1)
		}
		if i%2 == 0 { // in turn a nack and a deadline that passes
			if err := r.nack("readers", got...); err != nil {
				t.Fatal(err)
			}
		} else {
			rest += 10 * time.Second
		}
		clock.pass(rest - time.Second)
		if got := r.pull("readers", 1); len(got) != 0 {
			t.Fatalf("attempt %d: it came before %v", i+1, rest)
		}
		clock.pass(time.Second)
	}
	if got := r.pull("readers", 1); len(got) != 1 {
		t.Error("it did not come")
	}
	if _, err := r.sub.UpdateSubscription(t.Context(),
		updateOf("readers", &pubsubpb.Subscription{}, "retry_policy")); err != nil {
		t.Fatal(err)
	}
	clock.pass(70 * time.Second)
	if err := r.nack("readers", r.pull("readers", 1)...); err != nil {
		t.Fatal(err)
	}
	if got := r.pull("readers", 1); len(got) != 1 {
		t.Error("without the policy it did not come at once")
	}
}

func TestBackoffDoublesUpToItsBound(t *testing.T) {
	for _, c := range []struct {
		min, max time.Duration
		attempt  int
		want     time.Duration
	}{
		{0, 0, 1, 0}, {0, time.Minute, 9, 0}, {time.Second, time.Minute, 1, time.Second},
		{time.Second, time.Minute, 6, 32 * time.Second},
		{time.Second, time.Minute, 7, time.Minute}, {time.Second, time.Minute, 60000, time.Minute},
		{time.Minute, time.Minute, 1, time.Minute},
		{time.Second, time.Minute, 0, time.Second},
	} {
		if got := (backoff{c.min, c.max}).after(c.attempt); got != c.want {
			t.Errorf("%v to %v, attempt %d: %v, not %v", c.min, c.max, c.attempt, got, c.want)
		}
	}
}

func TestDeadLettersGoToTheirTopicAndTellWhereTheyComeFrom(t *testing.T) {
	r := newRig(t)
	r.subscribe("dead")
	r.subscribe("news", func(s *pubsubpb.Subscription) {
		s.DeadLetterPolicy = &pubsubpb.DeadLetterPolicy{DeadLetterTopic: topicName("dead"), MaxDeliveryAttempts: 5}
	})
	id := r.publish("news", "", "a")[0]
	for attempt := range 5 {
		got := r.pull("news", 1)
		if len(got) != 1 || got[0].DeliveryAttempt != int32(attempt+1) {
			t.Fatalf("attempt %d: %v came", attempt+1, got)
		}
		if err := r.nack("news", got...); err != nil {
			t.Fatal(err)
		}
	}
	res, err := r.sub.Pull(t.Context(), &pubsubpb.PullRequest{Subscription: subscriptionName("dead"), MaxMessages: 1})
	if err != nil || len(res.ReceivedMessages) != 1 {
		t.Fatalf("%v, %v", res, err)
	}
	m := res.ReceivedMessages[0].Message
	if string(m.Data) != "a" || m.MessageId != id {
		t.Errorf("the dead letter is %v", m)
	}
	for name, want := range map[string]string{deathCount: "5", deathSubscription: "news", deathProject: "local"} {
		if m.Attributes[name] != want {
			t.Errorf("%s is %q, not %q", name, m.Attributes[name], want)
		}
	}
	if _, err := time.Parse(time.RFC3339Nano, m.Attributes[deathPublished]); err != nil {
		t.Error(err)
	}
	if got := r.pull("news", 1); len(got) != 0 {
		t.Errorf("%v is still there", got)
	}
}

func TestExactlyOnceTellsWhichAckIDsAreOver(t *testing.T) {
	r, clock := newTimedRig(t)
	r.subscribe("once", func(s *pubsubpb.Subscription) { s.EnableExactlyOnceDelivery = true })
	r.publish("once", "", "a", "b")
	old := r.pull("once", 1)
	clock.pass(11 * time.Second)
	fresh := r.pull("once", 2)
	if len(fresh) != 2 {
		t.Fatal(texts(fresh))
	}
	err := r.ack("once", old[0], fresh[0])
	wantCode(t, err, codes.InvalidArgument)
	if got := ackErrors(err); got[old[0].AckId] != permanentFailure ||
		!strings.HasPrefix(got[fresh[0].AckId], "TRANSIENT_") || len(got) != 2 {
		t.Errorf("the details are %v", got)
	}
	// What was good has been done; asked again, it is confirmed.
	if err := r.ack("once", fresh[0]); err != nil {
		t.Error(err)
	}
	err = r.modify("once", 30, old[0])
	if got := ackErrors(err); got[old[0].AckId] != permanentFailure {
		t.Errorf("%v: the details are %v", err, got)
	}
	_, err = r.sub.Acknowledge(t.Context(), &pubsubpb.AcknowledgeRequest{Subscription: subscriptionName("once"),
		AckIds: []string{"nonsense"}})
	if got := ackErrors(err); got["nonsense"] != permanentFailure {
		t.Errorf("%v: the details are %v", err, got)
	}
	if err := r.modify("once", 30, fresh[1]); err != nil {
		t.Error(err)
	}
	clock.pass(29 * time.Second)
	if got := r.pull("once", 1); len(got) != 0 {
		t.Errorf("%q came within its deadline", texts(got))
	}
	if err := r.ack("once", fresh[1]); err != nil {
		t.Error(err)
	}
}

func TestMessagesOfOtherDoorsAreShown(t *testing.T) {
	r := newRig(t)
	n := queue.Name{Namespace: "default", Name: "jobs"}
	columns, err := message.ParseColumns([]string{"id int not null", "name text"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.CreateQueue(t.Context(), n, queue.Definition{Columns: columns}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.store.Put(t.Context(), n,
		[]message.Message{{Row: []message.Value{message.Int(5), message.String("x")}}}); err != nil {
		t.Fatal(err)
	}
	other := queue.Name{Namespace: "default", Name: "other"}
	odd := message.Message{Key: "\xff", Body: []byte("b")}
	odd.Attributes.Set("n", message.Int(7))
	odd.Attributes.Set("\xfe", message.String("\xfd"))
	if _, err := r.store.Put(t.Context(), other, []message.Message{odd}); err != nil {
		t.Fatal(err)
	}
	if got := r.pull("jobs", 1); len(got) != 1 || string(got[0].Message.Data) != `{"id":5,"name":"x"}` {
		t.Errorf("the row came as %v", got)
	}
	got := r.pull("other", 1)
	if len(got) != 1 || got[0].Message.Attributes["n"] != "7" || got[0].Message.OrderingKey != "\uFFFD" ||
		got[0].Message.Attributes["\uFFFD"] != "\uFFFD" {
		t.Errorf("the odd one came as %v", got)
	}
	// Any queue can be published to, and is a topic of its own.
	r.publish("other", "", "hello")
	if got := r.pull("other", 1); !slices.Equal(texts(got), []string{"hello"}) {
		t.Errorf("%q came", texts(got))
	}
	s, err := r.sub.GetSubscription(t.Context(),
		&pubsubpb.GetSubscriptionRequest{Subscription: subscriptionName("other")})
	if err != nil || s.Topic != topicName("other") {
		t.Errorf("%v, %v", s, err)
	}
}
