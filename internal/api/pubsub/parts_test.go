package pubsub

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hikyaku/hikyaku/internal/api/pubsub/push"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestOnlyTheLastAcknowledgementsAreRemembered(t *testing.T) {
	var a acked
	id := func(n int) []ackID { return []ackID{{token: queue.Token{Sequence: uint64(n)}}} }
	for n := range maxAcked + 1 {
		a.judge(id(n), false, []error{nil})
	}
	for n, known := range map[int]bool{0: false, 1: true, maxAcked: true} {
		errs := []error{queue.ErrStale}
		a.judge(id(n), false, errs)
		if (errs[0] == nil) != known {
			t.Errorf("acknowledgement %d again: %v", n, errs[0])
		}
	}
	// Acknowledged is not put back, and the other way round.
	errs := []error{queue.ErrStale}
	if a.judge(id(1), true, errs); errs[0] == nil {
		t.Error("what was acknowledged counts as put back")
	}
	if len(a.is) != maxAcked || len(a.ring) != maxAcked {
		t.Errorf("%d are remembered in %d", len(a.is), len(a.ring))
	}
}

func TestRevisionsBetweenTwo(t *testing.T) {
	all := []*pubsubpb.Schema{{RevisionId: "3"}, {RevisionId: "2"}, {RevisionId: "1"}}
	for _, c := range []struct {
		first, last string
		want        []string
	}{
		{"", "", []string{"3", "2", "1"}}, {"2", "", []string{"3", "2"}}, {"", "2", []string{"2", "1"}},
		{"2", "2", []string{"2"}}, {"1", "3", []string{"3", "2", "1"}},
		{"3", "1", nil}, {"x", "", nil}, {"", "x", nil},
	} {
		var got []string
		for _, s := range between(all, c.first, c.last) {
			got = append(got, s.RevisionId)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("from %q to %q: %q, not %q", c.first, c.last, got, c.want)
		}
	}
}

func TestAPusherCanExtendAndReturnWhatItHolds(t *testing.T) {
	r, clock := newTimedRig(t)
	r.topic("dead")
	r.subscribe("news", func(s *pubsubpb.Subscription) {
		s.RetryPolicy = &pubsubpb.RetryPolicy{MinimumBackoff: durationpb.New(10 * time.Second)}
		s.DeadLetterPolicy = &pubsubpb.DeadLetterPolicy{DeadLetterTopic: topicName("dead")}
	})
	r.publish("news", "", "a")
	sub, err := r.door.subscription(t.Context(), resource{"local", kindSubscription, "news"})
	if err != nil {
		t.Fatal(err)
	}
	source := &pushSource{d: r.door, sub: sub}
	claim := func() push.Message {
		t.Helper()
		ms, err := source.Claim(t.Context(), 5)
		if err != nil || len(ms) != 1 {
			t.Fatalf("%v, %v", ms, err)
		}
		return ms[0]
	}
	m := claim()
	if err := source.Return(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if m = claim(); m.Attempt != 1 {
		t.Errorf("what was not sent counts as attempt %d", m.Attempt)
	}
	clock.pass(9 * time.Second)
	if _, err := source.Extend(t.Context(), m); err != nil {
		t.Error(err)
	}
	clock.pass(9 * time.Second)
	if err := source.Nack(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if _, err := source.Extend(t.Context(), m); !errors.Is(err, queue.ErrStale) {
		t.Errorf("what was given back can be extended: %v", err)
	}
	if got := r.pull("news", 1); len(got) != 0 {
		t.Error("it does not rest")
	}
	clock.pass(11 * time.Second)
	if m = claim(); m.Attempt != 2 {
		t.Errorf("it comes again as attempt %d", m.Attempt)
	}
	if err := source.Ack(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	r.left("news", 0)
}

func TestAPushEndpointKeepsItsVersionUnlessItIsChanged(t *testing.T) {
	r := newRig(t)
	r.topic("news")
	r.subscribeTo("news", "pushed", func(s *pubsubpb.Subscription) {
		s.PushConfig = &pubsubpb.PushConfig{PushEndpoint: "http://127.0.0.1:1/a",
			Attributes: map[string]string{pushVersion: "v1beta1"}}
	})
	if _, err := r.sub.ModifyPushConfig(t.Context(),
		&pubsubpb.ModifyPushConfigRequest{Subscription: subscriptionName("pushed"),
			PushConfig: &pubsubpb.PushConfig{PushEndpoint: "http://127.0.0.1:1/b"}}); err != nil {
		t.Fatal(err)
	}
	s, err := r.sub.GetSubscription(t.Context(),
		&pubsubpb.GetSubscriptionRequest{Subscription: subscriptionName("pushed")})
	if err != nil || s.PushConfig.GetPushEndpoint() != "http://127.0.0.1:1/b" ||
		s.PushConfig.Attributes[pushVersion] != "v1beta1" {
		t.Errorf("%v, %v", s, err)
	}
}

func TestATopicOfAnotherProjectCanBeSubscribedTo(t *testing.T) {
	r := newRig(t)
	if _, err := r.pub.CreateTopic(t.Context(), &pubsubpb.Topic{Name: "projects/other/topics/news"}); err != nil {
		t.Fatal(err)
	}
	s, err := r.sub.CreateSubscription(t.Context(),
		&pubsubpb.Subscription{Name: subscriptionName("readers"), Topic: "projects/other/topics/news"})
	if err != nil || s.Topic != "projects/other/topics/news" {
		t.Fatalf("%v, %v", s, err)
	}
	list, err := r.pub.ListTopicSubscriptions(t.Context(),
		&pubsubpb.ListTopicSubscriptionsRequest{Topic: "projects/other/topics/news"})
	if err != nil || len(list.Subscriptions) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	// Both names of a namespace mean the same.
	if s, err := r.sub.GetSubscription(t.Context(),
		&pubsubpb.GetSubscriptionRequest{Subscription: "projects/default/subscriptions/readers"}); err != nil ||
		s.Name != "projects/default/subscriptions/readers" {
		t.Errorf("%v, %v", s, err)
	}
}

func TestDefectsAndUnknownErrorsAreReportedAndNotTold(t *testing.T) {
	var mu sync.Mutex
	var reported []error
	d := &Server{report: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		reported = append(reported, err)
	}}
	secret := errors.New("secret")
	err := d.statusOf(secret)
	wantCode(t, err, codes.Internal)
	wantCode(t, d.panicked("/x", "boom"), codes.Internal)
	if len(reported) != 2 || !errors.Is(reported[0], secret) || errors.Is(err, secret) {
		t.Errorf("%v was reported, %v told", reported, err)
	}
	for _, c := range []struct {
		err  error
		code codes.Code
	}{{nil, codes.OK}, {queue.ErrUnavailable, codes.Unavailable}, {queue.ErrNoRoom, codes.ResourceExhausted},
		{&queue.FullError{}, codes.ResourceExhausted}, {errStopping, codes.Unavailable},
		{queue.ErrRefused, codes.Unavailable}} {
		wantCode(t, d.statusOf(c.err), c.code)
	}
}
